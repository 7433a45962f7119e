"""How well components foretell the answers: what runs are judged by, beside the bound."""

from __future__ import annotations

import numpy as np

from coterie._typing import FloatArray
from coterie.mixture.tvclust import _kernels as kernels
from coterie.mixture.tvclust.variational import Factors, Priors, TwoViews

__all__ = ["foretold", "left_out_scores"]

_TAKEN = 4_000  # rows of the core scored at once
_PARTS = 5  # in which rows are left out of the components that foretell them


def foretold(data: TwoViews, factors: Factors, priors: Priors, *, seen: bool) -> FloatArray:
    """ln p(answer) (m,) of the pairs as the components foretell them, each row by itself.

    By components that have `seen` these rows, or by what they are without them.
    """
    core, evidence = data.evidence.core, data.evidence
    ends = core.slots_of(evidence.constraints.pairs)
    known = np.flatnonzero((ends >= 0).all(axis=1))
    agreement = np.ones(len(ends))
    if not known.size:
        return np.zeros(len(ends))
    scores = (_scores if seen else left_out_scores)(data, factors)
    kernels.soften(scores, np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, 0)))
    found = np.empty(known.size)
    kernels.edge_agreement(np.ascontiguousarray(ends[known]), scores, found)
    agreement[known] = np.clip(found, 0.0, 1.0)
    return evidence.foretold(agreement, priors.p, priors.q)


def _scores(data: TwoViews, factors: Factors) -> FloatArray:
    """E ln of weight and density (r, T) of the core's rows."""
    components, rows = factors.components(data.family), data.evidence.core.rows
    parts = np.array_split(rows, 1 + rows.size // _TAKEN)
    scores = np.concatenate([components.score(data.rows.take(part)) for part in parts])
    return np.asarray(scores + components.log_weights)


def left_out_scores(data: TwoViews, factors: Factors) -> FloatArray:
    """E ln of weight and density (r, T) of the core's rows, under components without them.

    A component of many columns and few rows is dense wherever its own rows are, whatever put them
    there, and would foretell any answers that it was fitted to. So its sums are left without a
    part of the rows at a time.
    """
    core, family = data.evidence.core, data.family
    resp = core.expand(factors.node_resp)
    if data.weights.size:
        resp = resp * data.weights[core.rows, None]
    scores = np.empty(resp.shape)
    for first in range(min(_PARTS, core.rows.size)):
        own = np.arange(first, core.rows.size, _PARTS)
        pieces = np.array_split(own, 1 + own.size // _TAKEN)
        statistics = factors.statistics.copy()
        for piece in pieces:
            family.add(data.rows.take(core.rows[piece]), -resp[piece], statistics)
        np.maximum(statistics[:, 0], 0.0, out=statistics[:, 0])
        components = factors._replace(statistics=statistics).components(family)
        for piece in pieces:
            scores[piece] = components.score(data.rows.take(core.rows[piece]))
        scores[own] += components.log_weights
    return scores
