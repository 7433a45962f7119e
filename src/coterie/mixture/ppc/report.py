"""What a fit of PPC says about itself: what was exact, what the bound is, what it doubts."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.exceptions import ApproximationWarning
from coterie.inference import mean_field
from coterie.inference.model import subgraph
from coterie.mixture.ppc.em import PpcProblem
from coterie.mixture.ppc.posteriors import CorePosterior
from coterie.mixture.ppc.prior import Prior, by_proportions
from coterie.words import warn

__all__ = ["describe", "warn_of_doubts"]

_SWEEPS = 5  # of mean field for a bound that is only told
_FAR = 10.0  # times smaller than its share of the rows: a weight that new rows suffer from


def describe(
    problem: PpcProblem, pi: FloatArray, posterior: CorePosterior | None, weights_update: str
) -> dict[str, Any]:
    """`inference_report_`: engines, rows, log Ω and what `lower_bound_` is.

    `pi` (K,) are the weights of the clusters.
    """
    omega = _omega_kind(problem, weights_update)
    approximate = set(problem.core.engines) - {"exact"}
    bound = "penalised log-likelihood"
    if (
        approximate - {"mean_field", "structured_mean_field"}
        or omega == "as if no two pairs shared a row"
    ):
        bound = "estimate"
    elif approximate or omega != "exact":
        bound = "lower bound"
    out = problem.core.report() | {"log_omega": omega, "lower_bound": bound}
    if posterior is not None and omega != "exact":
        out["log_omega_range"] = omega_range(problem, pi, posterior)
    return out


def _omega_kind(problem: PpcProblem, weights_update: str) -> str:
    if problem.update is by_proportions:
        return "left out: pairs are answers"
    if weights_update == "nonoverlapping":
        return "as if no two pairs shared a row"
    return "exact where narrow, else of a spanning forest" if problem.core.wide.any() else "exact"


def omega_range(
    problem: PpcProblem, pi: FloatArray, posterior: CorePosterior
) -> tuple[float, float]:
    """Bounds on log Ω at weights `pi` (K,): by mean field from below, by forests from above.

    Mean field is a bound after any number of sweeps.
    """
    core, log_pi = problem.core, np.log(pi)
    prior = problem.prior
    if not prior.bounds_objective:
        prior = Prior(core.graph, core.exponent, core.wide)
    high = prior.log_omega(log_pi)[0]
    low = high
    if core.wide.any():
        nodes = np.flatnonzero(core.wide)
        part, _ = subgraph(core.graph, nodes)
        forest = high
        if nodes.size < core.wide.size:
            wide = np.ones(nodes.size, dtype=np.bool_)
            forest = Prior(part, core.exponent[nodes], wide).log_omega(log_pi)[0]
        model = part._replace(unary=-core.exponent[nodes, None] * log_pi)
        field = mean_field(
            model, posterior.labels[nodes], max_sweeps=_SWEEPS, tol=1e-3, pairs=False
        )
        assert field.log_partition is not None
        low = high - forest + field.log_partition
    return float(low), float(high)


def warn_of_doubts(
    pi: FloatArray, totals: FloatArray, n: float, posterior: CorePosterior | None
) -> None:
    """Warn of rows that inference may have wrong, and of weights far from the shares of the rows.

    `pi` (K,); `totals` (K,) are the summed posteriors of rows that count as n.
    """
    if posterior is not None and posterior.unsure:
        warn(
            f"Hard cannot-links leave the posteriors of {posterior.unsure} groups of rows frozen, "
            "or different from run to run: they may be wrong, and are not how sure to be of a row. "
            'Use inference="exact" or "auto" where pairs are few a row, or give the pairs a '
            "certainty of .99.",
            ApproximationWarning,
        )
    share = totals / n
    lost = np.flatnonzero((share > _FAR * pi) & (totals >= 1.0))
    if lost.size:
        k = int(lost[0])
        warn(
            f"Cluster {k} has {share[k]:.3g} of the rows but a weight of {pi[k]:.3g}: the pairs "
            "say almost nothing about the weights, and predict for new rows follows them. Use "
            'weights_update="proportions" if pairs were not picked by what they are.',
            ApproximationWarning,
        )
