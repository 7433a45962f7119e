"""Formulas of the belief: priors of rows, Bayes' rule, and groups that may be one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.opinions import SHARPNESS, Pool, tempered

__all__ = ["bayes", "link_log_odds", "mixed_prior"]

Float = NDArray[np.float64]

_NEW = 0.1  # the field below which a cluster not seen yet is likelier
_SURPRISE = 0.1  # share of the prior spread evenly: no group is ever ruled out by geometry


def mixed_prior(
    field: Float, pool: Float | None, of_pool: Pool | None, alive: NDArray[np.int64], n_groups: int
) -> Float:
    """`Belief.prior`: of field (b, G), `pool` (b, G') of the other classifiers; (b, G + 1)."""
    scores = SHARPNESS * field[:, alive]
    top = np.maximum(scores.max(axis=1, keepdims=True), SHARPNESS * _NEW)
    total = np.exp(scores - top).sum(axis=1)
    new = np.exp(SHARPNESS * _NEW - top[:, 0])
    shared = np.exp(scores - top) / total[:, np.newaxis]
    if pool is not None:
        assert of_pool is not None
        online = tempered(shared, of_pool.power)
        known = alive < pool.shape[1]
        # Of groups that came later the others know nothing: the field speaks for all.
        later = online[:, ~known].sum(axis=1, keepdims=True)
        others = np.zeros_like(online)
        others[:, known] = (1 - later) * pool[:, alive[known]]
        others[:, ~known] = (1 - of_pool.weights[0]) * online[:, ~known]
        shared = of_pool.weights[0] * online + others
        shared /= shared.sum(axis=1, keepdims=True)
    chance = np.zeros((len(field), n_groups + 1))
    chance[:, -1] = new / (new + total)
    chance[:, alive] = (1 - chance[:, -1:]) * shared
    even = np.zeros(n_groups + 1)
    even[[*alive, -1]] = 1 / (alive.size + 1)
    return (1 - _SURPRISE) * chance + _SURPRISE * even


def bayes(prior: Float, evidence: Float) -> Float:
    """Prior (…, G + 1) × likelihood of the answers, (…, G); "new" refuses all groups."""
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    scores[..., :-1] += evidence
    chance = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return chance / chance.sum(axis=-1, keepdims=True)


def link_log_odds(prior: Float, new: Float, evidence: Float) -> Float:
    r"""Σ over rows of log P(answers | A and B are one) / P(answers | they are two), (G, G).

    A row is in group g with probability :math:`p_g`, in none with `new`; its answers are
    :math:`e^{v_g}` times likelier if it is in g than if it is in none. With A and B two groups
    their probability is :math:`\sum_g p_g e^{v_g} + p_{new}`; with A and B one, the terms of A and
    B give way to :math:`(p_A + p_B) e^{v_A + v_B}`. A row that A refused and B took speaks against;
    one that might have been in either and was taken by the first it was asked speaks for.

    Parameters
    ----------
    prior, evidence : (R, G)
    new : (R,)
    """
    weight = prior * np.exp(evidence)
    total = weight.sum(axis=1) + new
    both = prior[:, :, np.newaxis] + prior[:, np.newaxis, :]
    joint = both * np.exp(evidence[:, :, np.newaxis] + evidence[:, np.newaxis, :])
    one = total[:, np.newaxis, np.newaxis] - weight[:, :, np.newaxis] - weight[:, np.newaxis, :]
    # The difference can come out a rounding below 0 where A and B hold all the weight.
    one = np.maximum(one, 0.0) + joint
    return np.log(np.maximum(one, 1e-300) / total[:, np.newaxis, np.newaxis]).sum(axis=0)
