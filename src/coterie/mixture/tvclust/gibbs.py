"""Collapsed Gibbs sampling for TVClust: labels, p, q and alpha; components integrated out.

The table weights of a row are those of (11) and (17) (the sampler (13) is misprinted):
n_k p(x | rows of k) (p / (1 - q))^friends ((1 - p) / q)^strangers, and alpha p(x) for a new table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from coterie._typing import FloatArray, IntArray
from coterie.data import Rows
from coterie.mixture.tvclust import _seating_kernels as kernels
from coterie.mixture.tvclust.families import Family
from coterie.mixture.tvclust.gibbs_rows import Nodes, gibbs_rows
from coterie.mixture.tvclust.pairs import AnswerLogs
from coterie.mixture.tvclust.variational import Alpha, Priors, TwoViews, label_statistics
from coterie.progress import keep_going

__all__ = ["Chain", "GibbsPosterior", "Sampler", "log_joint", "run_gibbs", "spread"]


class Sampler:
    """Draws the labels (nodes,) of a data set's nodes, one sweep at a time."""

    def __init__(self, data: TwoViews) -> None:
        self.data, self.nodes = data, Nodes.of(data)
        self._rows = gibbs_rows(data, self.nodes)

    def of_rows(self, labels: IntArray) -> IntArray:
        """Labels (n,) of the rows from those of the nodes."""
        return labels[self.nodes.of_row]

    def of_nodes(self, labels: IntArray) -> IntArray:
        """Labels (nodes,): each node's is its first row's."""
        return labels[self.nodes.members[self.nodes.ptr[:-1]]].astype(np.int64)

    def sweep(
        self, labels: IntArray, logs: AnswerLogs, alpha: float, rng: np.random.Generator
    ) -> IntArray:
        """New labels (nodes,): every node's drawn given all others, in a random order."""
        seed = rng.integers(2**63, dtype=np.uint64)
        seating = kernels.Seating(
            rng.permutation(len(labels)),
            split_mix(seed, len(labels)),
            self.nodes.indptr,
            self.nodes.indices,
            self.data.evidence.odds(logs),
            self.data.evidence.forbidden,
            float(np.log(alpha)),
        )
        drawn = labels.copy()
        self._rows.sweep(seating, drawn, rng)
        return drawn


def split_mix(seed: np.uint64, count: int) -> FloatArray:
    """Uniform numbers in [0, 1), (count,): SplitMix64, which is the same on every machine."""
    z = seed + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * np.float64(2.0**-53)


class Chain(NamedTuple):
    """One chain: what each sweep gave, and the labels of the sweeps kept."""

    trace: dict[str, FloatArray]
    kept: NDArray[np.int32]


class GibbsPosterior(NamedTuple):
    """All chains, summarised by the kept sample nearest to the posterior similarity matrix."""

    labels: IntArray
    agreement: FloatArray
    trace: dict[str, FloatArray]
    kept: NDArray[np.int32]


def log_joint(data: TwoViews, labels: IntArray, logs: AnswerLogs, alpha: float) -> float:
    """ln p(rows, answers, partition | p, q, alpha) of labels (n,) from 0 without gaps."""
    counts = np.bincount(labels)
    partition = (
        len(counts) * np.log(alpha)
        + gammaln(counts).sum()
        + gammaln(alpha)
        - gammaln(alpha + len(labels))
    )
    statistics = label_statistics(data, labels, len(counts))
    together, apart = data.evidence.pair_logs(logs)
    answers = np.where(_together(data, labels), together, apart).sum()
    return float(partition + data.family.log_evidence(statistics) + answers)


def _together(data: TwoViews, labels: IntArray) -> NDArray[np.bool_]:
    pairs = data.evidence.constraints.pairs
    same: NDArray[np.bool_] = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return same


def run_chain(
    data: TwoViews,
    start: IntArray,
    priors: Priors,
    *,
    n_sweeps: int,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
) -> Chain:
    """Sweeps from labels (n,): z, then p and q, then alpha."""
    sampler = Sampler(data)
    labels = sampler.of_nodes(start)
    p, q, alpha = priors.p.mean, priors.q.mean, priors.alpha.mean
    names = ("log_joint", "n_clusters", "p", "q", "alpha")
    trace = {name: np.empty(n_sweeps) for name in names}
    kept = []
    for t in range(n_sweeps):
        labels = sampler.sweep(labels, AnswerLogs.at(p, q), alpha, rng)
        _, rows = np.unique(sampler.of_rows(labels), return_inverse=True)
        p, q = draw_beliefs(data, rows, priors, rng)
        alpha = draw_alpha(alpha, int(rows.max()) + 1, data.rows.n, priors.alpha, rng)
        joint = log_joint(data, rows, AnswerLogs.at(p, q), alpha)
        for name, value in zip(names, (joint, rows.max() + 1, p, q, alpha), strict=True):
            trace[name][t] = value
        if t >= burn_in and (t - burn_in) % thin == 0:
            kept.append(rows.astype(np.int32))
        if not keep_going(t + 1, n_sweeps, joint) and kept:
            break
    return Chain({name: values[: t + 1] for name, values in trace.items()}, np.array(kept))


def draw_beliefs(
    data: TwoViews, labels: IntArray, priors: Priors, rng: np.random.Generator
) -> tuple[float, float]:
    """p and q from their Beta posteriors given the partition."""
    together = _together(data, labels).astype(np.float64)
    posteriors = data.evidence.update(together, priors.p, priors.q)
    p, q = (posterior.draw(rng) for posterior in posteriors)
    return p, q


def draw_alpha(
    alpha: float, n_clusters: int, n: int, prior: Alpha, rng: np.random.Generator
) -> float:
    """alpha given the number of clusters (Escobar & West 1995); as it is where it has no prior."""
    if prior.rate is None:
        return alpha
    log_eta = np.log(rng.beta(alpha + 1, n))
    rate = prior.rate - log_eta
    odds = (prior.shape + n_clusters - 1) / (n * rate)
    shape = prior.shape + n_clusters - (0 if rng.random() < odds / (1 + odds) else 1)
    return float(rng.gamma(shape) / rate)


def spread(data: TwoViews, sharp: Family, blur: FloatArray, rng: np.random.Generator) -> TwoViews:
    """Rows moved at random by what their values leave open, for a family that knows no blur.

    The sampler's form of the blur of `start.measure_columns`: normal noise of variance blur (d,).
    """
    if not blur.any():
        return data._replace(family=sharp)
    X = data.rows.take(np.arange(data.rows.n)).astype(np.float64)
    return data._replace(rows=Rows(X + rng.normal(size=X.shape) * np.sqrt(blur)), family=sharp)


def run_gibbs(
    data: TwoViews,
    starts: list[IntArray],
    priors: Priors,
    *,
    n_sweeps: int,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
) -> GibbsPosterior:
    """One chain from each start."""
    chains = [
        run_chain(data, start, priors, n_sweeps=n_sweeps, burn_in=burn_in, thin=thin, rng=own)
        for start, own in zip(starts, rng.spawn(len(starts)), strict=True)
    ]
    kept = np.concatenate([chain.kept for chain in chains])
    pairs = data.evidence.constraints.pairs
    agreement = np.zeros(len(pairs))
    for sample in kept:
        agreement += sample[pairs[:, 0]] == sample[pairs[:, 1]]
    length = min(len(chain.trace["p"]) for chain in chains)  # one may have been ended early
    trace = {
        name: np.stack([chain.trace[name][:length] for chain in chains]) for name in chains[0].trace
    }
    return GibbsPosterior(representative(kept), agreement / len(kept), trace, kept)


def representative(kept: NDArray[np.int32]) -> IntArray:
    """The kept sample nearest, in squares, to the posterior similarity matrix, labels (n,).

    |S_s - mean_t S_t|^2 = <S_s, S_s> - 2 mean_t <S_s, S_t> + const, with S_s the 0/1 matrix of rows
    together in sample s; each product is a sum over a contingency table, so no n x n matrix.
    """
    products = np.empty((len(kept), len(kept)))
    kernels.coincidences(kept, products)
    best = int(np.argmin(np.diag(products) - 2 * products.mean(axis=1)))
    return kept[best].astype(np.int64)
