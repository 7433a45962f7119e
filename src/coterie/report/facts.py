"""Everything a report says, as numbers: gathered once, before a word is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import FloatArray
from coterie.constraints import Constraints, PairTable
from coterie.exceptions import InvalidData
from coterie.metrics import adjusted_rand_score, normalized_mutual_info_score
from coterie.plot.confusion import Confusion, confusion_of
from coterie.plot.inputs import (
    as_rows,
    broken_mask,
    constraints_of,
    history_of,
    labels_of,
    names_of,
)
from coterie.plot.layout import FlatMap, lay_out, project
from coterie.report.clusters import Cluster, describe, moments, words_alone
from coterie.report.feature_words import read_kinds
from coterie.report.shown import Records, Units, read_ids, read_units, short_name

__all__ = ["Facts", "Truth", "gather"]

MOST_DETAILED = 40  # clusters described one by one, the largest first
MOST_COMPARED = 25  # classes and clusters in the table of the truth: the rest are counted together
DRAWN_PAIRS = 500  # on the map: more lines hide the rows
MOST_PAIRS = 10  # shown side by side
# A pair is suspect from here on: the doubt the library has about any plain pair beforehand.
LEAST_DOUBT = 0.05


@dataclass(frozen=True)
class Truth:
    """Clusters against the true classes."""

    confusion: Confusion
    ari: float
    nmi: float


@dataclass(frozen=True)
class Facts:
    """What a report is written from."""

    model: Any
    sparse: bool
    n: int
    names: list[str]
    kinds: list[str]  # (d,) what each column was made of
    ids: list[str]
    records: Records
    labels: NDArray[np.int64]  # (n,) numbers of clusters
    clusters: list[Cluster]
    constraints: Constraints
    all_pairs_known: bool
    broken: NDArray[np.bool_]  # (m,)
    flat: FlatMap
    history: tuple[FloatArray, str] | None
    metric: FloatArray | None  # (1 or K, d)
    metric_is_full: bool
    pairs: PairTable  # shown side by side
    pairs_are_suspects: bool
    truth: Truth | None


def gather(
    model: Any,
    X: Any,
    *,
    constraints: Any = None,
    feature_names: Any = None,
    kinds: Any = None,
    ids: Any = None,
    records: Any = None,
    truth: Any = None,
    units: Any = None,
    projection: Any = "auto",
) -> Facts:
    """Check the input and compute what the report says."""
    rows = as_rows(X)
    names = names_of(X if hasattr(X, "shape") else rows, feature_names)
    n, sparse = rows.shape[0], bool(sp.issparse(rows))
    scale = read_units(units, rows.shape[1])
    values, labels = np.unique(labels_of(model, n), return_inverse=True)
    known, all_known = _pairs_of(model, constraints, n)
    shown = [short_name(name) for name in names]
    plane = project(rows, projection, shown)
    metric, full = _metric_of(model, rows.shape[1])
    pairs, suspects = _pairs_to_show(model, known, labels)
    return Facts(
        model=model,
        sparse=sparse,
        n=n,
        names=shown,
        kinds=read_kinds(kinds, rows.shape[1], sparse),
        ids=read_ids(ids, n),
        records=Records(records, rows, names, scale),
        labels=labels,
        clusters=_clusters(rows, words_alone(shown), scale, values, labels),
        constraints=known,
        all_pairs_known=all_known,
        broken=broken_mask(known, labels),
        flat=lay_out(plane, known, labels, max_pairs=DRAWN_PAIRS),
        history=history_of(model),
        metric=metric,
        metric_is_full=full,
        pairs=pairs,
        pairs_are_suspects=suspects,
        truth=None if truth is None else _truth(labels, values, truth),
    )


# -- clusters ----------------------------------------------------------------------------------
def _clusters(
    X: Any, names: list[str], units: Units, values: NDArray[Any], labels: NDArray[np.int64]
) -> list[Cluster]:
    sizes = np.bincount(labels, minlength=values.size)
    detailed = set(np.argsort(-sizes, kind="stable")[:MOST_DETAILED].tolist())
    mean, spread = moments(X)
    order = np.argsort(labels, kind="stable")
    begin = np.r_[0, np.cumsum(sizes)]
    clusters = []
    for k, value in enumerate(values.tolist()):
        described: dict[str, Any] = {}
        if k in detailed:
            members = order[begin[k] : begin[k + 1]]
            told = describe(X, members, mean, spread, names, units)
            described["typical"], described["nearest"] = told
        size = int(sizes[k])
        clusters.append(Cluster(k, short_name(value), size, size / labels.size, **described))
    return clusters


# -- pairs -------------------------------------------------------------------------------------
def _pairs_of(model: Any, constraints: Any, n: int) -> tuple[Constraints, bool]:
    """The pairs, and whether those are all: many models only keep the ones they broke."""
    if constraints is not None or hasattr(model, "constraints_"):
        return constraints_of(model, constraints, n), True
    broken = getattr(model, "violations_", None)
    if broken is None or not len(broken):
        return Constraints(n), False
    return Constraints.from_arrays(n, np.column_stack([broken.i, broken.j]), broken.kind), False


def _pairs_to_show(
    model: Any, constraints: Constraints, labels: NDArray[np.int64]
) -> tuple[PairTable, bool]:
    """(pairs, whether they are suspects): what the model doubts, else what it broke."""
    suspect_pairs = getattr(model, "suspect_pairs", None)
    if suspect_pairs is not None:
        table = suspect_pairs(MOST_PAIRS)
        table = table[table.value >= LEAST_DOUBT]
        if len(table):
            return table, True
    violations = getattr(model, "violations_", None)
    if violations is None:
        broken = np.flatnonzero(broken_mask(constraints, labels))
        i, j = constraints.pairs[broken].T
        violations = PairTable(i, j, constraints.kind[broken], np.ones(broken.size), "weight")
    if len(violations) and max(violations.i.max(), violations.j.max()) >= labels.size:
        raise InvalidData(
            "the model broke pairs of rows that X does not have: pass the rows of fit."
        )
    return violations[:MOST_PAIRS], False


# -- the rest ----------------------------------------------------------------------------------
def _metric_of(model: Any, width: int) -> tuple[FloatArray | None, bool]:
    """Weights of the columns in the learned metric, (1 or K, d); whether it has more than them."""
    inner = getattr(model, "estimator_", model)
    for name in ("metrics_", "distortion_params_"):
        found = getattr(inner, name, None)
        if found is None:
            continue
        weights = np.asarray(found, dtype=np.float64)
        full = weights.ndim == 3
        if full:
            weights = np.diagonal(weights, axis1=1, axis2=2)
        weights = np.atleast_2d(weights)
        if weights.shape[1] == width:
            same = len(weights) > 1 and bool((weights == weights[0]).all())
            return (weights[:1] if same else weights), full
    return None, False


def _truth(labels: NDArray[np.int64], values: NDArray[Any], truth: Any) -> Truth:
    classes = np.asarray(truth)
    if classes.shape != labels.shape:
        raise InvalidData(
            f"truth has shape {classes.shape} for {labels.size} rows: one class each."
        )
    return Truth(
        confusion_of(values[labels], classes, MOST_COMPARED),
        float(adjusted_rand_score(classes, labels)),
        float(normalized_mutual_info_score(classes, labels)),
    )
