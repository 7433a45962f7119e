"""Compiled decisions of LCVQE, pair by pair, on squared distances of the core's rows."""

# mypy: allow-untyped-defs
from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def nearest_other(distances, row, label):
    """The centre nearest to `row` but for `label`; -1 if there is no other."""
    best = -1
    for k in range(distances.shape[1]):
        if k != label and (best < 0 or distances[row, k] < distances[row, best]):
            best = k
    return best


@njit(cache=True, nogil=True)
def join(distances, a, b, weight, labels):
    """Decide a must-link: keep it broken, or bring both rows to one of their two clusters."""
    j, other = labels[a], labels[b]
    if j == other:
        return
    across = distances[a, other] + distances[b, j]
    keep = (distances[a, j] + distances[b, other]) / 2 + weight * across / 4
    to_j = (distances[a, j] + distances[b, j]) / 2
    to_other = (distances[a, other] + distances[b, other]) / 2
    if to_j < keep and to_j <= to_other:
        labels[b] = j
    elif to_other < keep:
        labels[a] = other


@njit(cache=True, nogil=True)
def part(distances, a, b, weight, labels):
    """Decide a cannot-link: keep it broken, or send the farther row to its nearest other centre."""
    j = labels[a]
    if j != labels[b]:
        return
    far = a if distances[a, j] > distances[b, j] else b
    other = nearest_other(distances, far, j)
    if other < 0:
        return
    both = (distances[a, j] + distances[b, j]) / 2
    keep = both + weight * distances[far, other] / 2
    if both + (distances[far, other] - distances[far, j]) / 2 < keep:
        labels[far] = other


@njit(cache=True, nogil=True)
def decide(distances, ends, must, weight, labels):
    """Go through the pairs, must-links first, and settle each that the labels so far break.

    IN distances (r, K), ends (m, 2) core rows, must (m,) bool, weight (m,). OUT labels (r,).
    """
    for p in range(ends.shape[0]):
        if must[p]:
            join(distances, ends[p, 0], ends[p, 1], weight[p], labels)
    for p in range(ends.shape[0]):
        if not must[p]:
            part(distances, ends[p, 0], ends[p, 1], weight[p], labels)


@njit(cache=True, nogil=True)
def broken_terms(distances, ends, must, weight, labels, row, cluster, mass):
    """What broken pairs add to the clusters, and what they cost.

    IN as `decide`. OUT row, cluster (2m,), mass (2m,): `row` pulls the centre of `cluster` with
    `mass`, half the weight for either end of a must-link (GMLV), the weight for the farther end
    of a cannot-link (GCLV). Returns how many were written and the cost, half of mass times
    distance.
    """
    count, cost = 0, 0.0
    for p in range(ends.shape[0]):
        a, b = ends[p, 0], ends[p, 1]
        j, other = labels[a], labels[b]
        if must[p] and j != other:
            row[count], cluster[count], mass[count] = a, other, weight[p] / 2
            row[count + 1], cluster[count + 1], mass[count + 1] = b, j, weight[p] / 2
            cost += weight[p] * (distances[a, other] + distances[b, j]) / 4
            count += 2
        elif not must[p] and j == other:
            far = a if distances[a, j] > distances[b, j] else b
            away = nearest_other(distances, far, j)
            if away >= 0:
                row[count], cluster[count], mass[count] = far, away, weight[p]
                cost += weight[p] * distances[far, away] / 2
                count += 1
    return count, cost
