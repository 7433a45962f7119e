"""What the letter says beside its main experiments: one start, weights, more rows; K-Means alone.

Parts of their own, so that they can be run without the hours of the main ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from models import (
    PAPER,
    accuracy,
    disjoint_pairs,
    fit_cop,
    fit_mixture,
    fit_ppc,
    scaled,
    search,
)
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from coterie import PPC, Constraints
from coterie.metrics import match_labels
from lab import Row
from lab.protocol import Data

STRONGER = (1.0, 2.0, 4.0, 8.0)  # times the weight of (5.1): footnote 6's w is above it


def one_start(set: str, draw: int, seed: int, pairs: list[int], rows: int) -> Iterator[Row]:
    """PPC from a single start, as Figure 6's curves without pairs seem to be."""
    data = scaled(set, rows)
    for count in pairs:
        train, _ = split(data, seed, count)
        rng = np.random.default_rng([seed, count, 1])
        drawn = disjoint_pairs(data.y[train], count, rng).as_hard()
        settings = {**PAPER, **search(data.X), "n_init": 1, "init": "random"}
        model = PPC(data.k, random_state=seed, **settings)
        model.fit(data.X[train], constraints=drawn)
        found = accuracy(data.y[train], model.labels_)
        yield {"method": "PPC, one start", "pairs": count, "train": found}


def split(data: Data, seed: int, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Training rows and the tenth held out."""
    order = np.random.default_rng([seed, count]).permutation(data.y.size)
    return order[data.y.size // 10 :], order[: data.y.size // 10]


def cop(set: str, draw: int, seed: int, pairs: list[int], rows: int) -> Iterator[Row]:
    """COP-KMeans, the clusters of held-out rows matched to classes by the training rows.

    Matched by the held-out rows themselves, two clusters of them are never below one half.
    """
    data = scaled(set, rows)
    for count in pairs:
        train, test = split(data, seed, count)
        rng = np.random.default_rng([seed, count, 1])
        drawn = disjoint_pairs(data.y[train], count, rng).as_hard()
        model = fit_cop(data.k, data.X[train], drawn, seed)
        class_of = match_labels(data.y[train], model.labels_)
        told = [class_of.get(label, -1) for label in model.predict(data.X[test]).tolist()]
        yield {
            "method": "COP-KMeans",
            "pairs": count,
            "train": accuracy(data.y[train], model.labels_),
            "test": float(np.mean(np.array(told) == data.y[test])),
        }


def weight(
    set: str, draw: int, seed: int, pairs: int, weights: list[float], rows: int
) -> Iterator[Row]:
    """Figure 2: 20 true pairs of weight w, EM from the same poor parameters for each.

    w of (2.15) is half of the log-odds that a pair is right. The letter does not say how many
    rows there are.
    """
    data = scaled(set, rows)
    drawn = disjoint_pairs(data.y, pairs, np.random.default_rng(seed))
    for w in weights:
        known = of_weight(drawn, w) if w else None
        settings = {**PAPER, "tol": 1e-5, "max_iter": 300}
        model = PPC(data.k, init=poor(data.X), random_state=seed, **settings)
        found = accuracy(data.y, model.fit(data.X, constraints=known).labels_)
        yield {"method": f"w = {w:g}", "pairs": pairs, "train": found}


def poor(X: NDArray[Any]) -> GaussianMixture:
    """Two Gaussians as wide as the rows, one standard deviation off the middle along x.

    The classes of the bars lie one above the other, so that EM parts the rows the wrong way.
    """
    spread = np.cov(X.T)
    off = np.array([np.sqrt(spread[0, 0]), 0.0])
    model = GaussianMixture(2)
    model.weights_ = np.array([0.5, 0.5])
    model.means_ = X.mean(axis=0) + np.stack([-off, off])
    model.covariances_ = np.stack([spread, spread])
    model.precisions_cholesky_ = np.linalg.cholesky(np.linalg.inv(model.covariances_))
    return model


def of_weight(pairs: Constraints, w: float) -> Constraints:
    """The same pairs with the certainty whose weight (2.15) is w."""
    certainty = float(1.0 / (1.0 + np.exp(-2.0 * w)))
    return Constraints(
        pairs.n_samples,
        pairs.must_link,
        pairs.cannot_link,
        must_certainty=certainty,
        cannot_certainty=certainty,
    )


def stronger(set: str, q: float, draw: int, seed: int, rows: int) -> Iterator[Row]:
    """Footnote 6: soft pairs of the best weight beside hard ones, on Figure 10's draws."""
    data = scaled(set, rows)
    rng = np.random.default_rng([seed, round(100 * q)])
    soft = disjoint_pairs(data.y, data.y.size // 4, rng, flip=q)
    w = 0.5 * np.log((1.0 - q) / q)
    models = {
        f"soft, {factor:g} w": fit_ppc(data.k, data.X, of_weight(soft, factor * w), seed)
        for factor in STRONGER
    }
    found = {name: accuracy(data.y, model.labels_) for name, model in models.items()}
    found["soft, best w"] = max(found.values())
    found["hard PPC"] = accuracy(data.y, fit_ppc(data.k, data.X, soft.as_hard(), seed).labels_)
    for method, score in found.items():
        yield {"method": method, "train": score}


def decay(set: str, draw: int, seed: int, pairs: int, sizes: list[int]) -> Iterator[Row]:
    """Section 6: the pairs stay, rows are added; what PPC gains over the mixture on all rows."""
    data = scaled(set)
    order = np.random.default_rng(seed).permutation(data.y.size)
    for size in sizes:
        some = order[:size]
        first = disjoint_pairs(
            data.y[some[: sizes[0]]], pairs, np.random.default_rng([seed, 1])
        ).as_hard()
        known = Constraints(size, first.must_link, first.cannot_link).as_hard()
        X, y = data.X[some], data.y[some]
        told = accuracy(y, fit_ppc(data.k, X, known, seed).labels_)
        plain = accuracy(y, fit_mixture(data.k, X, seed))
        yield {"method": f"gain, {size} rows", "pairs": pairs, "train": told - plain}
