"""TVClust and RDP-means among methods with and without pairs (Khashabi et al. 2015, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from coterie import (
    LCVQE,
    PPC,
    Constraints,
    DPMeans,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
    TVClust,
)
from coterie.cluster.rdp.counts import CountKL
from coterie.distortions import SquaredEuclidean
from coterie.metrics import evaluate
from lab import Row
from lab.protocol import Data, data

Fit = Callable[[Any, Constraints, int, int], Any]
#: Algorithm 1 as the authors ran it: from one cluster, lambda by the k-th largest distance to the
#: mean, xi from .001 doubling without a bound.
PRINTED: dict[str, Any] = {"lambda_": "paper", "init": "single"}
PRINTED_XI: dict[str, Any] = {"xi0": 1e-3, "xi_rate": 2.0, "xi_max": None}
SMOOTHING = 0.3  # Laplace, of counts (section 5.3)
#: As the authors ran them: rows as they are (TVClust standardises by itself), plain distance.
METHODS: dict[str, Fit] = {
    "K-means": lambda X, pairs, k, seed: KMeans(k, n_init=1, random_state=seed).fit(X),
    "DP-means": lambda X, pairs, k, seed: DPMeans(
        n_clusters_hint=k, divergence="euclidean", random_state=seed, **PRINTED
    ).fit(X),
    "TVClust": lambda X, pairs, k, seed: TVClust(truncation=15, random_state=seed).fit(
        X, constraints=pairs
    ),
    "RDP-means": lambda X, pairs, k, seed: RDPMeans(
        n_clusters_hint=k, divergence="euclidean", random_state=seed, **PRINTED, **PRINTED_XI
    ).fit(X, constraints=pairs),
    "MPCKMeans": lambda X, pairs, k, seed: MPCKMeans(k, random_state=seed).fit(
        X, constraints=pairs
    ),
    "LCVQE": lambda X, pairs, k, seed: LCVQE(k, random_state=seed).fit(X, constraints=pairs),
}
#: With the defaults of this library, for docs/noisy-answers.md.
DEFAULTS: dict[str, Fit] = {
    "TVClust": lambda X, pairs, k, seed: TVClust(random_state=seed).fit(X, constraints=pairs),
    "RDPMeans": lambda X, pairs, k, seed: RDPMeans(n_clusters_hint=k, random_state=seed).fit(
        X, constraints=pairs
    ),
    "PPC": lambda X, pairs, k, seed: PPC(k, random_state=seed).fit(X, constraints=pairs),
    "Mosaic": lambda X, pairs, k, seed: Mosaic(k, random_state=seed).fit(X, constraints=pairs),
    "PCKMeans": lambda X, pairs, k, seed: PCKMeans(k, random_state=seed).fit(X, constraints=pairs),
    "MPCKMeans": METHODS["MPCKMeans"],
    "LCVQE": METHODS["LCVQE"],
    "KMeans (no answers)": lambda X, pairs, k, seed: KMeans(k, n_init=10, random_state=seed).fit(X),
}
SCORES = ("f", "ari", "nmi")
CLUSTERS = {"glass": 7}  # announced in the paper; one of its classes has no row


def rows_of(name: str) -> Data:
    """Rows as the authors had them: glass keeps its row number as a column."""
    X, y, k = data(name, protocol="paper") if name == "glass" else data(name)
    return Data(np.asarray(X, dtype=np.float64), y, CLUSTERS.get(name, k))


def draw_pairs(y: NDArray[np.int64], rate: float, p: float, seed: int) -> Constraints:
    """rate n² ordered pairs of distinct rows, each of its true kind with probability p.

    The side information is a symmetric matrix E, so a pair drawn again replaces the earlier one.
    By the text r is the share of the elements of E that are known, and each pair is two of them:
    rate n² / 2 pairs. The published numbers are those of rate n² (part `elements`).
    """
    rng = np.random.default_rng(seed)
    n = len(y)
    drawn = round(rate * n * n)
    i = rng.integers(n, size=drawn)
    j = (i + rng.integers(1, n, size=drawn)) % n
    together = (y[i] == y[j]) ^ (rng.random(drawn) >= p)
    key = np.minimum(i, j) * n + np.maximum(i, j)
    _, last = np.unique(key[::-1], return_index=True)
    last = drawn - 1 - last
    pairs, must = np.column_stack([i, j])[last], together[last]
    return Constraints(n, must_link=pairs[must], cannot_link=pairs[~must])


def scores_of(y: NDArray[Any], model: Any) -> Row:
    """F, ARI and NMI over all rows, and the number of clusters found."""
    found = evaluate(y, model.labels_)
    return {name: found[name] for name in SCORES} | {"clusters": len(np.unique(model.labels_))}


def cell(part: str, **options: Any) -> Iterator[Row]:
    """One draw of pairs."""
    return PARTS[part](**options)


def tables(method: str, set: str, r: float, p: float, draw: int, seed: int) -> Iterator[Row]:
    """Tables 1 to 3."""
    X, y, k = rows_of(set)
    yield scores_of(y, METHODS[method](X, draw_pairs(y, r, p, seed), k, seed))


def elements(set: str, r: float, p: float, draw: int, seed: int) -> Iterator[Row]:
    """r as the text defines it, a share of the elements of E: half as many pairs as in `tables`."""
    X, y, k = rows_of(set)
    yield scores_of(y, METHODS["RDP-means"](X, draw_pairs(y, r / 2, p, seed), k, seed))


def deviation(
    method: str, set: str, draw: int, seed: int, deviations: list[int], least: int
) -> Iterator[Row]:
    """k - deviation clusters are announced (Figure 3)."""
    X, y, k = rows_of(set)
    pairs = draw_pairs(y, 0.03, 1.0, seed)
    for off in (off for off in deviations if k - off >= least):
        yield {"deviation": off, **scores_of(y, METHODS[method](X, pairs, k - off, seed))}


def truncation(set: str, draw: int, seed: int, truncations: list[int]) -> Iterator[Row]:
    """Figure 3 for TVClust, which is told no k: the most clusters it may use is varied."""
    X, y, _ = rows_of(set)
    pairs = draw_pairs(y, 0.03, 1.0, seed)
    for most in truncations:
        model = TVClust(truncation=most, random_state=seed).fit(X, constraints=pairs)
        yield {"truncation": most, **scores_of(y, model)}


def patterns(set: str, draw: int, seed: int, runs: int) -> Iterator[Row]:
    """The strongest of five runs of each method (Figure 2)."""
    X, y, k = data(set, random_state=seed)
    trials = [(run, draw_pairs(y, 0.01, 1.0, 100 * seed + run)) for run in range(runs)]
    for method, fit in METHODS.items():
        found = [scores_of(y, fit(X, pairs, k, run)) for run, pairs in trials]
        yield {"name": method, **max(found, key=lambda scores: scores["f"])}


def counts(set: str, draw: int, seed: int, rates: list[float], table: float) -> Iterator[Row]:
    """Words counted: the Gaussian and the multinomial model (Table 4), more pairs (Figure 4)."""
    X, y, k = data(set, weighting="counts")
    models = {
        "Gaussian": ("sqeuclidean", SquaredEuclidean()),
        "multinomial": ("kl", CountKL(SMOOTHING)),  # "kl" is the same divergence, by its name
    }
    for model, (divergence, distortion) in models.items():
        options = {"n_clusters_hint": k, "divergence": divergence, "random_state": seed, **PRINTED}
        plain = {
            "K-means": HMRFKMeans(k, distortion=distortion, learn_metric=False, random_state=seed),
            "DP-means": DPMeans(**options),
        }
        for name, estimator in plain.items():
            yield {"name": name, "model": model, "rate": table, **scores_of(y, estimator.fit(X))}
        for rate in rates:
            pairs = draw_pairs(y, rate, 1.0, seed)
            estimator = RDPMeans(**options, **PRINTED_XI)
            found = scores_of(y, estimator.fit(X, constraints=pairs))
            yield {"name": "RDP-means", "model": model, "rate": rate, **found}


def answers(set: str, p: float, draw: int, seed: int) -> Iterator[Row]:
    """Every method with its defaults on standardised columns, for docs/noisy-answers.md."""
    X, y, k = rows_of(set)
    X = StandardScaler().fit_transform(X)
    pairs = draw_pairs(y, 0.03, p, seed)
    for method, fit in DEFAULTS.items():
        found = evaluate(y, fit(X, pairs, k, seed).labels_)["f"]
        yield {"name": method, "wrong": round(1.0 - p, 2), "f": found}


PARTS: dict[str, Callable[..., Iterator[Row]]] = {
    "tables": tables,
    "elements": elements,
    "deviation": deviation,
    "truncation": truncation,
    "patterns": patterns,
    "counts": counts,
    "answers": answers,
}
