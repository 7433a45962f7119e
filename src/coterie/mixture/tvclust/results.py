"""What either way of inference leaves behind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray
from coterie.mixture.tvclust.gibbs import run_gibbs
from coterie.mixture.tvclust.search import Candidate
from coterie.mixture.tvclust.variational import (
    Priors,
    TwoViews,
    label_statistics,
    likely_labels,
    responsibilities,
)

__all__ = ["Chains", "Result", "gibbs_result", "variational_result"]


class Result(NamedTuple):
    """What either way of inference leaves behind."""

    labels: NDArray[Any]  # (n,), any numbering
    statistics: FloatArray  # (T, width)
    weights: FloatArray  # (T,)
    p: float
    q: float
    alpha: float
    agreement: FloatArray  # (m,)
    fitted: dict[str, Any]


class Chains(NamedTuple):
    """How many Gibbs chains, sweeps of each, sweeps forgotten, and every how many are kept."""

    n_chains: int
    n_sweeps: int
    burn_in: int
    thin: int


def variational_result(best: Candidate) -> Result:
    """The factors of a run."""
    factors = best.run.factors
    fitted: dict[str, Any] = {
        "lower_bounds_": best.run.bounds,
        "lower_bound_": best.bound,
        "n_iter_": len(best.run.bounds),
        "converged_": best.run.converged,
    }
    if best.data.rows.in_memory:
        fitted["resp_"] = responsibilities(best.data, factors)
        labels = fitted["resp_"].argmax(axis=1).astype(np.int32)
    else:
        labels = likely_labels(best.data, factors)
    return Result(
        labels,
        factors.statistics,
        factors.sticks.weights(),
        factors.p.mean,
        factors.q.mean,
        factors.alpha.mean,
        factors.agreement,
        fitted,
    )


def gibbs_result(
    runs: list[Candidate],
    sampled: TwoViews,
    chains: Chains,
    priors: Priors,
    rng: np.random.Generator,
) -> Result:
    """Chains over the `sampled` rows, from the runs of the best one's family.

    Chains are too slow to find a good region by themselves.
    """
    data = runs[0].data
    same = [run for run in runs if run.data.family is data.family]
    starts = [responsibilities(data, run.run.factors).argmax(axis=1) for run in same]
    found = run_gibbs(
        sampled,
        [starts[c % len(starts)] for c in range(chains.n_chains)],
        priors,
        n_sweeps=chains.n_sweeps,
        burn_in=chains.burn_in,
        thin=chains.thin,
        rng=rng,
    )
    statistics = label_statistics(data, found.labels, int(found.labels.max()) + 1)
    kept = {name: values[:, chains.burn_in :].mean() for name, values in found.trace.items()}
    fitted = {
        "trace_": found.trace,
        "samples_": found.kept,
        "n_iter_": found.trace["p"].shape[1],
        "converged_": True,
    }
    return Result(
        found.labels,
        statistics,
        statistics[:, 0] / statistics[:, 0].sum(),
        float(kept["p"]),
        float(kept["q"]),
        float(kept["alpha"]),
        found.agreement,
        fitted,
    )
