"""Collapsed Gibbs sampling for TVClust: labels, p, q and alpha; components integrated out.

The table weights of a row are those of (11) and (17) (the sampler (13) is misprinted):
n_k p(x | rows of k) (p / (1 - q))^friends ((1 - p) / q)^strangers, and alpha p(x) for a new table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from coterie.mixture.tvclust import _gibbs_kernels as kernels
from coterie.mixture.tvclust.families import Gaussian, Multinomial
from coterie.mixture.tvclust.pairs import Belief
from coterie.mixture.tvclust.variational import Alpha, Data, Priors
from coterie.progress import keep_going

__all__ = ["Chain", "Nodes", "Posterior", "log_joint", "run_gibbs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Nodes(NamedTuple):
    """All rows as nodes: those of the core first, then every free row; and the graph over them."""

    ptr: Ints
    members: Ints
    of_row: Ints
    indptr: Ints
    indices: Ints

    @classmethod
    def of(cls, data: Data) -> Nodes:
        """From the core of the pairs."""
        core, n = data.evidence.core, data.rows.n
        of_row = np.full(n, -1, dtype=np.int64)
        of_row[core.rows] = core.node
        free = np.flatnonzero(of_row < 0)
        of_row[free] = core.n_nodes + np.arange(free.size)
        sizes = np.bincount(of_row)
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        members = np.argsort(of_row, kind="stable")
        tail = np.full(free.size, core.indptr[-1], dtype=np.int64)
        return cls(ptr, members, of_row, np.concatenate([core.indptr, tail]), core.indices)


class Sampler:
    """One call makes one sweep over the labels (nodes,) of a data set."""

    def __init__(self, data: Data, nodes: Nodes) -> None:
        self.data, self.nodes = data, nodes
        family = data.family
        if isinstance(family, Gaussian):
            self._prepare_gaussian(family)
        elif isinstance(family, Multinomial):
            self._prepare_multinomial(family)
        else:
            raise TypeError(f"no Gibbs sampler for {type(family).__name__}")

    def _prepare_gaussian(self, family: Gaussian) -> None:
        X = self.data.rows.take(np.arange(self.data.rows.n)).astype(np.float64)
        count = np.arange(len(X) + 1)
        kappa, nu = family.kappa0 + count, family.nu0 + count
        constants = (
            gammaln(0.5 * (nu + 1))
            - gammaln(0.5 * (nu + 1 - family.d))
            + 0.5 * family.d * (np.log(kappa / (kappa + 1)) - np.log(np.pi))
        )
        self._sweep: Any = kernels.sweep_gaussian
        self._before = (X, self.nodes.ptr, self.nodes.members)
        self._after: tuple[Any, ...] = (
            family.kappa0,
            family.nu0,
            np.diag(np.sqrt(family.prior_scale)),
            float(np.log(family.prior_scale).sum()),
            constants,
        )

    def _prepare_multinomial(self, family: Multinomial) -> None:
        X = sp.csr_array(self.data.rows.X)
        n_nodes = len(self.nodes.ptr) - 1
        joined = sp.csr_array(
            (np.ones(self.data.rows.n), self.nodes.members, self.nodes.ptr),
            shape=(n_nodes, self.data.rows.n),
        )
        sums = sp.csr_array(joined @ X)
        sums.sum_duplicates()
        self._sweep = kernels.sweep_multinomial
        self._before = (
            sums.data.astype(np.float64),
            sums.indices.astype(np.int64),
            sums.indptr.astype(np.int64),
            np.diff(self.nodes.ptr),
            family.d,
        )  # type: ignore[assignment]
        self._after = (family.concentration,)

    def sweep(self, labels: Ints, belief: Belief, alpha: float, rng: np.random.Generator) -> None:
        """Draw every node's label (in place) given all others, in a random order."""
        evidence = self.data.evidence
        state = rng.integers(2**63, size=1, dtype=np.uint64)
        order = rng.permutation(len(labels))
        self._sweep(
            *self._before, order, self.nodes.indptr, self.nodes.indices, evidence.odds(belief),
            evidence.forbidden, np.log(alpha), *self._after, state, labels,
        )  # fmt: skip


class Chain(NamedTuple):
    """One chain: what each sweep gave, and the labels of the sweeps kept."""

    trace: dict[str, Floats]
    kept: NDArray[np.int32]


class Posterior(NamedTuple):
    """All chains, summarised by the kept sample nearest to the posterior similarity matrix."""

    labels: Ints
    agreement: Floats
    trace: dict[str, Floats]
    kept: NDArray[np.int32]


def log_joint(data: Data, labels: Ints, belief: Belief, alpha: float) -> float:
    """ln p(rows, answers, partition | p, q, alpha) of labels (n,) from 0 without gaps."""
    counts = np.bincount(labels)
    partition = (
        len(counts) * np.log(alpha)
        + gammaln(counts).sum()
        + gammaln(alpha)
        - gammaln(alpha + len(labels))
    )
    statistics = label_statistics(data, labels)
    together, apart = data.evidence.pair_logs(belief)
    answers = np.where(_together(data, labels), together, apart).sum()
    return float(partition + data.family.log_evidence(statistics).sum() + answers)


def label_statistics(data: Data, labels: Ints) -> Floats:
    """Sums over the rows of each cluster, (K, width)."""
    n_clusters = int(labels.max()) + 1
    sums = np.zeros((n_clusters, data.family.width))
    eye = np.eye(n_clusters)
    for lo, hi, rows in data.rows.chunks():
        data.family.add(rows, eye[labels[lo:hi]], sums)
    return sums


def _together(data: Data, labels: Ints) -> NDArray[np.bool_]:
    pairs = data.evidence.constraints.pairs
    same: NDArray[np.bool_] = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return same


def run_chain(
    data: Data,
    start: Ints,
    priors: Priors,
    *,
    n_sweeps: int,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
) -> Chain:
    """Sweeps from labels (n,): z, then p and q, then alpha."""
    nodes = Nodes.of(data)
    sampler = Sampler(data, nodes)
    labels = start[nodes.members[nodes.ptr[:-1]]].astype(np.int64)
    p, q, alpha = priors.p.mean, priors.q.mean, priors.alpha.mean
    names = ("log_joint", "n_clusters", "p", "q", "alpha")
    trace = {name: np.empty(n_sweeps) for name in names}
    kept = []
    for t in range(n_sweeps):
        sampler.sweep(labels, Belief.at(p, q), alpha, rng)
        _, rows = np.unique(labels[nodes.of_row], return_inverse=True)
        p, q = draw_beliefs(data, rows, priors, rng)
        alpha = draw_alpha(alpha, int(rows.max()) + 1, data.rows.n, priors.alpha, rng)
        joint = log_joint(data, rows, Belief.at(p, q), alpha)
        for name, value in zip(names, (joint, rows.max() + 1, p, q, alpha), strict=True):
            trace[name][t] = value
        if t >= burn_in and (t - burn_in) % thin == 0:
            kept.append(rows.astype(np.int32))
        if not keep_going(t + 1, n_sweeps, joint) and kept:
            break
    return Chain({name: values[: t + 1] for name, values in trace.items()}, np.array(kept))


def draw_beliefs(
    data: Data, labels: Ints, priors: Priors, rng: np.random.Generator
) -> tuple[float, float]:
    """p and q from their Beta posteriors given the partition."""
    together = _together(data, labels).astype(np.float64)
    posteriors = data.evidence.update(together, priors.p, priors.q)
    inside = 1e-12  # a draw of exactly 0 or 1 would make soft pairs hard
    p, q = (float(np.clip(rng.beta(post.a, post.b), inside, 1 - inside)) for post in posteriors)
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


def run_gibbs(
    data: Data,
    starts: list[Ints],
    priors: Priors,
    *,
    n_sweeps: int,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
) -> Posterior:
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
    return Posterior(representative(kept), agreement / len(kept), trace, kept)


def representative(kept: NDArray[np.int32]) -> Ints:
    """The kept sample nearest, in squares, to the posterior similarity matrix, labels (n,).

    |S_s - mean_t S_t|^2 = <S_s, S_s> - 2 mean_t <S_s, S_t> + const, with S_s the 0/1 matrix of rows
    together in sample s; each product is a sum over a contingency table, so no n x n matrix.
    """
    products = np.empty((len(kept), len(kept)))
    kernels.coincidences(kept, products)
    best = int(np.argmin(np.diag(products) - 2 * products.mean(axis=1)))
    return kept[best].astype(np.int64)
