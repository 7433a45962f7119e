"""Columns that matter: a mixture with independent columns that hears the pairs.

A column by which clusters differ varies less within them than among all rows, and it may be
another column for each cluster. Most columns of a wide table vary within clusters as they do among
all rows, and yet distances are mostly made of them. So each cluster has a mean and a variance for
every column, learned from the beliefs about all rows: pairs need only say which rows go together.

Prior of a cluster's column: one more row at the mean of all rows, with the variance of all rows. It
says that no column matters, as loudly as one row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import SILENCE, nothing_said
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.judging import Trial, telling_sharpness
from coterie.cluster.mosaic.passes import shares
from coterie.cluster.mosaic.problem import MosaicSettings
from coterie.inference.messages import send_messages

__all__ = [
    "LEAST_SPREAD",
    "MOST_COLUMNS",
    "Columns",
    "Taught",
    "fit_columns",
    "hear_columns",
]

LEAST_SPREAD = 0.01  # of a column's variance: a cluster is never flat
MOST_COLUMNS = 1000  # of which each is looked at by itself


class Columns(NamedTuple):
    """What each cluster is like, column by column.

    Attributes
    ----------
    means, variances : (K, d)
    log_share : (K,)
        How probable each cluster is before a row is seen.
    sharpness : float
        How far densities are believed: columns that repeat one another are not independent.
    """

    means: Array
    variances: Array
    log_share: Array
    sharpness: float = 1.0

    def log_densities(self, rows: Array) -> NDArray[np.float64]:
        """log(share · density) (n, K) of rows (n, d), but for a constant."""
        precision = 1.0 / self.variances
        linear, constant = self.means * precision, np.log(self.variances)
        constant += self.means * linear
        squares = rows**2 @ precision.T - 2.0 * rows @ linear.T + constant.sum(axis=1)
        return np.asarray(self.log_share - 0.5 * squares, dtype=np.float64)

    def chances(self, rows: Array) -> NDArray[np.float64]:
        """How probably each row (n, d) is of each cluster, (n, K)."""
        return shares(self.log_densities(rows), self.sharpness)


class Taught(NamedTuple):
    """Columns, what they and the pairs make believe of each row (n, K), and log P(pairs)."""

    columns: Columns
    beliefs: Array
    score: float


def fit_columns(rows: Array, weights: Array, beliefs: Array) -> Columns:
    """The most probable columns if rows (n, d) that count `weights` (n,) are as `beliefs` (n, K).

    They maximise sum_ik w_i t_ik log N(x_i | k) + sum_k [log N(m | k) - v / (2 variance_k)] with m
    and v the mean and variance of all rows, over variances of at least `LEAST_SPREAD` v.
    """
    whole = weights.sum()
    centre = weights @ rows / whole
    spread = weights @ (rows - centre) ** 2 / whole
    spread[spread == 0.0] = 1.0  # a column that is the same everywhere says nothing
    held = weights[:, None] * beliefs
    count = held.sum(axis=0)[:, None] + 1.0
    gaps = (held.T @ (rows - centre)) / count
    squares = (held.T @ (rows - centre) ** 2 + spread) / count
    variances = np.maximum(squares - gaps**2, LEAST_SPREAD * spread)
    return Columns(centre + gaps, variances, np.log(count[:, 0] / count.sum()))


def hear_columns(
    rows: Array,
    weights: Array,
    evidence: Evidence,
    trial: Trial,
    rate: float,
    beliefs: Array,
    rounds: int,
    settings: MosaicSettings,
) -> Taught:
    """Columns from beliefs, then beliefs from columns and pairs, in turn: the best of all rounds.

    Parameters
    ----------
    rows : (n, d)
    weights : (n,)
        How often each counts.
    evidence : Evidence
        The pairs, ...
    trial : Trial
        ... as they judge, ...
    rate : float
        ... and how often they are wrong.
    beliefs : (n, K)
        To begin with.
    """
    core, graph, factors = evidence.core, evidence.graph, evidence.factors(rate)
    messages = nothing_said(evidence, settings, beliefs.shape[1])
    best: Taught | None = None
    for _ in range(rounds):
        columns = fit_columns(rows, weights, beliefs)
        logs = columns.log_densities(rows)
        told = telling_sharpness(trial, logs, first=1.0, most=1.0)
        beliefs = shares(logs, told.sharpness)
        own = core.contract(weights[core.rows, None] * logs[core.rows])
        prior = shares(own, told.sharpness)
        nodes, messages = send_messages(
            prior, graph, factors, messages, sweeps=settings.tuning.few_steps, tol=SILENCE
        )
        beliefs[core.rows] = core.expand(nodes)
        if best is None or told.score > best.score:
            best = Taught(columns._replace(sharpness=told.sharpness), beliefs, told.score)
    assert best is not None
    return best
