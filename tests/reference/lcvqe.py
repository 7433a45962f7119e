"""LCVQE (Pelleg and Baras 2007) in plain Python: one pair after the other, loops over rows."""

from __future__ import annotations

import numpy as np


def squares(X, centers):
    return np.array([[float(((x - c) ** 2).sum()) for c in centers] for x in X])


def decisions(d, must, cannot):
    """Labels after the nearest-centre assignment and one pass over the violated pairs.

    `must` and `cannot` map (a, b), a < b, to a weight.
    """
    labels = [int(np.argmin(row)) for row in d]
    for (a, b), weight in sorted(must.items()):
        j, other = labels[a], labels[b]
        if j == other:
            continue
        prices = {
            (j, other): (d[a][j] + d[b][other]) / 2 + weight * (d[a][other] + d[b][j]) / 4,
            (j, j): (d[a][j] + d[b][j]) / 2,
            (other, other): (d[a][other] + d[b][other]) / 2,
        }
        labels[a], labels[b] = min(prices, key=prices.get)
    for (a, b), weight in sorted(cannot.items()):
        j = labels[a]
        if j != labels[b] or d.shape[1] == 1:
            continue
        r, c = (a, b) if d[a][j] > d[b][j] else (b, a)
        M = min((k for k in range(d.shape[1]) if k != j), key=lambda k: d[r][k])
        keep = (d[a][j] + d[b][j]) / 2 + weight * d[r][M] / 2
        if (d[c][j] + d[r][M]) / 2 < keep:
            labels[r] = M
    return labels


def pulls(d, labels, must, cannot):
    """(row, cluster, mass) of every pair left broken: GMLV by half its weight, GCLV by all."""
    out = []
    for (a, b), weight in must.items():
        if labels[a] != labels[b]:
            out += [(a, labels[b], weight / 2), (b, labels[a], weight / 2)]
    for (a, b), weight in cannot.items():
        j = labels[a]
        if j == labels[b] and d.shape[1] > 1:
            r = a if d[a][j] > d[b][j] else b
            out.append((r, min((k for k in range(d.shape[1]) if k != j), key=d[r].item), weight))
    return out


def objective(d, labels, must, cannot):
    own = sum(d[i][y] for i, y in enumerate(labels)) / 2
    return own + sum(mass * d[i][k] / 2 for i, k, mass in pulls(d, labels, must, cannot))


def update(X, centers, labels, extra):
    """The centres: members count 1, pulling rows their mass."""
    new = []
    for k in range(len(centers)):
        total, mass = np.zeros(X.shape[1]), 0.0
        for i, y in enumerate(labels):
            if y == k:
                total, mass = total + X[i], mass + 1
        for i, cluster, weight in extra:
            if cluster == k:
                total, mass = total + weight * X[i], mass + weight
        new.append(total / mass)
    return np.array(new)


def fit(X, centers, must, cannot, max_iter=100, tol=1e-6):
    """Labels, centres and the objective after each pass; None if a cluster is emptied."""
    history, before = [], None
    while True:
        d = squares(X, centers)
        labels = decisions(d, must, cannot)
        value = objective(d, labels, must, cannot)
        if before is not None:  # the paired rows' last labels, if those cost less
            paired = {row for pair in [*must, *cannot] for row in pair}
            last = [before[i] if i in paired else y for i, y in enumerate(labels)]
            if objective(d, last, must, cannot) < value:
                labels, value = last, objective(d, last, must, cannot)
        history.append(value)
        same = before is not None and labels == before
        if same or (len(history) > 1 and history[-2] - value <= tol * abs(history[-2])):
            return labels, centers, history
        if len(history) == max_iter:
            return labels, centers, history
        if len(set(labels)) < len(centers):
            return None
        before = labels
        centers = update(X, centers, labels, pulls(d, labels, must, cannot))
