"""Odd values for the arguments of every public function: a result, or a typed error that names it.

As `test_odd_parameters.py` for estimators and `test_odd_arguments.py` for what sessions are made
of. A function that becomes public is given a case here, or named among those that others call.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from odd_values import CLASSES, ODD, cryptic, error_of, parameters, rule_keys
from test_odd_arguments import CASES as ARGUMENTS

import coterie
from coterie import (
    Constraints,
    PCKMeans,
    active,
    constraints,
    data,
    datasets,
    distortions,
    metrics,
    model_selection,
    plot,
    propagation,
    report,
    tables,
    transform,
)
from coterie.active import ActiveSession, Turns, make_strategy
from coterie.constraints import sample_pairs
from coterie.parameter_table import PARAMETERS
from coterie.records import PairExplanation

mpl.use("Agg")
N, Y = 12, np.arange(12) % 3
X = np.random.default_rng(0).normal(size=(N, 2)) + 6 * np.eye(3, 2)[Y]
KNOWN = Constraints(N, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1), (2, 3)])
MANY = sample_pairs(Y, 60, random_state=0)
FITTED = PCKMeans(3, random_state=0).fit(X, constraints=KNOWN)
TABLE = tables.Table.of("t", {"x": X[:, 0], "kind": np.array(list("abc") * 4, dtype=object)})


class Call(NamedTuple):
    """A function, and arguments that are right."""

    made: Callable[..., Any]
    right: dict[str, Any]


def session() -> ActiveSession:
    return ActiveSession(X, strategy="random", random_state=0)


def take_turn(**given: Any) -> None:
    turns = Turns(**({"session": session()} | given))
    turn = turns.take("ann")
    if turn is not None:
        turns.give_back("ann")


def same(asked: Any) -> Any:
    return ["same"] * len(asked) if isinstance(asked, list) else "same"


def extend(**given: Any) -> Any:
    return PCKMeans(3, random_state=0).fit(X, constraints=KNOWN).extend(**given)


def learn(**given: Any) -> Any:
    return tables.Recipe.learn(TABLE, tables.Choices(**given))


def in_engine(who: Any) -> None:
    with coterie.engine(who):
        pass


def open_store(path: Any) -> None:
    active.AnswerStore(path).close()


def unpack(**given: Any) -> Any:
    rows = {"rows": data.open_rows("rows.npy"), "folder": "."}
    return data.unpacked(**(rows | given))


LEARNED = active.LearningCurve("a", np.array([1, 2]), {"ari": np.ones((2, 2))})
EXPLAINED = PairExplanation(("x",), ("the same",), np.ones(1), 0.0, 0.0, 1.0)
THEIRS = {"adjusted_rand_score", "normalized_mutual_info_score"}  # scikit-learn's own
CURVE = {
    "strategy": "random", "estimator": FITTED, "X": X, "y": Y, "budgets": [2], "folds": 2,
}  # fmt: skip
CALLS = {
    "choose_n_clusters": Call(
        coterie.choose_n_clusters,
        {"estimator": PCKMeans(2), "X": X, "candidates": [2, 3], "constraints": MANY, "folds": 2},
    ),
    "compare": Call(
        coterie.compare, {"estimators": {"a": PCKMeans(3)}, "X": X, "constraints": KNOWN, "runs": 1}
    ),
    "config": Call(coterie.config, {"engine": None}),
    "engine": Call(in_engine, {"who": "threads"}),
    "pair_score": Call(coterie.pair_score, {"estimator": FITTED, "X": X, "constraints": KNOWN}),
    "diff": Call(coterie.diff, {"old": Y, "new": Y}),
    "renumber": Call(coterie.renumber, {"labels": Y, "like": Y}),
    "load": Call(coterie.load, {"path": "saved"}),
    "save": Call(coterie.save, {"model": FITTED, "path": "model", "overwrite": True}),
    "extend": Call(extend, {"X": X[:3]}),
    "Turns": Call(take_turn, {}),
    "answer_all": Call(
        active.answer_all, {"session": session(), "oracle": same, "max_questions": 1}
    ),
    "run_programs": Call(
        active.run_programs,
        {"session": session(), "programs": active.Program("p", same), "max_questions": 1},
    ),
    "broken_answers": Call(active.broken_answers, {"answers": [], "labels": Y}),
    "suspect_answers": Call(active.suspect_answers, {"answers": [], "labels": Y}),
    "make_strategy": Call(make_strategy, {"name": "random"}),
    "learning_curve": Call(active.learning_curve, CURVE),
    "AnswerStore": Call(open_store, {"path": "answers.db"}),
    "open_rows": Call(data.open_rows, {"where": "rows.npy"}),
    "open_column": Call(data.open_column, {"where": "rows.parquet", "name": "x"}),
    "unpacked": Call(unpack, {}),
    "write_labels": Call(data.write_labels, {"path": "labels.parquet", "labels": Y}),
    "datasets.load": Call(datasets.load, {"name": "iris"}),
    "get_distortion": Call(distortions.get_distortion, {"value": "cosine"}),
    "open_table": Call(tables.open_table, {"where": "rows.parquet"}),
    "read_table": Call(tables.read_table, {"path": "rows.csv"}),
    "Choices": Call(learn, {}),
    "build_report": Call(report.build_report, {"model": FITTED, "X": X, "constraints": KNOWN}),
    "diagnose": Call(propagation.diagnose, {"propagated": KNOWN, "sources": KNOWN, "y": Y}),
    "plot_changes": Call(plot.plot_changes, {"old": Y, "new": Y}),
    "plot_clusters": Call(plot.plot_clusters, {"model": FITTED, "X": X, "constraints": KNOWN}),
    "plot_confusion": Call(plot.plot_confusion, {"model": FITTED, "truth": Y}),
    "plot_constraints": Call(plot.plot_constraints, {"constraints": KNOWN, "X": X}),
    "plot_explanation": Call(plot.plot_explanation, {"explanation": EXPLAINED}),
    "plot_learning_curve": Call(plot.plot_learning_curve, {"curves": LEARNED}),
    "write_report": Call(report.write_report, {"path": "page.html", "model": FITTED, "X": X}),
    "plot_objective": Call(plot.plot_objective, {"model": FITTED}),
    **{
        name: Call(getattr(metrics, name), {"labels_true": Y, "labels_pred": Y})
        for name in metrics.__all__
        if "labels_true" in parameters(getattr(metrics, name)) and name not in THEIRS
    },
    "constraint_satisfaction": Call(
        metrics.constraint_satisfaction, {"labels": Y, "constraints": KNOWN}
    ),
}


#: What is said of these is where and why they cannot be read, or that their sizes differ.
DATA = {
    "X", "constraints", "ids", "labels", "labels_pred", "labels_true", "like", "like_ids", "name",
    "new", "old", "old_ids", "path", "rows", "trusted", "truth", "value", "vectors", "where", "who",
    "y", "model",
}  # fmt: skip
WRAPPED = {extend: PCKMeans.extend, take_turn: Turns, learn: tables.Choices, unpack: data.unpacked}
WRAPPED |= {in_engine: coterie.engine, open_store: active.AnswerStore}
#: Where users find what they call. Of the others only other parts of ours call anything.
PUBLIC = [coterie, active, constraints, data, distortions, metrics, model_selection, plot]
PUBLIC += [propagation, report, transform]
#: What other parts call with what they have checked, and what users write themselves.
WITHIN = {
    "active.CallLog", "active.answer_all_async", "active.register_strategy",
    "active.run_programs_async", "constraints.Closure", "constraints.Conflicts",
    "constraints.sample_pairs", "constraints.learning_curve_pairs", "constraints.grid_neighbors",
    "constraints.estimate_flip_rate", "constraints.PairRows", "constraints.PairTable",
    "data.DaskRows", "data.DerivedRows",
    "data.MemoryRows", "data.ProcessEngine", "data.Rows", "data.Scratch",
    "data.StoredColumn", "data.ThreadEngine",
    "data.UnpackedRows", "data.centered", "data.check_blocks", "data.each_row", "data.fold",
    "data.gather", "data.is_dask", "data.is_stream", "data.join", "data.keeping",
    "data.make_room", "data.map_blocks", "data.map_listed", "data.num_threads",
    "data.one_blas_thread", "data.one_thread", "data.spooled", "data.thread_pool",
    "data.use_threads",
    "data.without_gaps", "distortions.Correlation", "distortions.Cosine",
    "distortions.ItakuraSaito", "distortions.SquaredEuclidean", "metrics.evaluation_rows",
    "report.build_fitted_report", "report.build_record_report", "sklearn.adjusted_rand_score",
    "sklearn.normalized_mutual_info_score",
}  # fmt: skip


def public() -> dict[str, Any]:
    """Functions, and classes that are more than a record of results, by their names."""
    found = {name: getattr(of, name) for of in PUBLIC for name in of.__all__}
    return {
        f"{made.__module__.removeprefix('coterie.').partition('.')[0]}.{name}": made
        for name, made in found.items()
        if callable(made) and not _is_result(made)
    }


def _is_result(made: Any) -> bool:
    """Errors, records, and what is only there to be inherited from."""
    if not isinstance(made, type):
        return False
    return (
        issubclass(made, BaseException | tuple)
        or dataclasses.is_dataclass(made)
        or inspect.isabstract(made)
        or getattr(made, "_is_protocol", False)
    )


def test_everything_public_is_tried() -> None:
    tried = {call.made for call in CALLS.values()} | {*WRAPPED.values()}
    tried |= {*CLASSES} | {case.made for case in ARGUMENTS}
    missing = {name for name, made in public().items() if made not in tried}
    assert missing == WITHIN


def names_of(call: Call) -> list[str]:
    """Of its own arguments, or of those that its wrapper above passes on."""
    behind = WRAPPED.get(call.made)
    return [
        name
        for name in parameters(behind or call.made)
        if name not in ("self", "settings", "options")
    ]


EACH = [
    pytest.param(call, name, id=f"{of}-{name}")
    for of, call in CALLS.items()
    for name in names_of(call)
]


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory: Any) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("calls")
    with contextlib.chdir(folder):
        np.save("rows.npy", X)
        frame = pd.DataFrame(X, columns=["x", "y"])
        frame.to_csv("rows.csv", index=False)
        frame.to_parquet("rows.parquet")
        coterie.save(FITTED, "saved")
        yield
    coterie.config(engine=None)


@pytest.mark.parametrize(("call", "name"), EACH)
def test_odd_values_are_named_or_work(call: Call, name: str, record_property: Any) -> None:
    record_property("tried", len(ODD))
    call.made(**call.right)
    functions = name in ("oracle", "clock", "sleep", "on_run", "stop", "progress")
    for value in (value for value in ODD if not (functions and callable(value))):
        error = error_of(lambda value=value: call.made(**(call.right | {name: value})))
        assert not cryptic(error, "" if name in DATA else name), f"{name}={value!r}: {error!r}"
    plt.close("all")


def test_no_rule_is_idle() -> None:
    takers = [*CLASSES, *(case.made for case in ARGUMENTS)]
    takers += [WRAPPED.get(call.made, call.made) for call in CALLS.values()]
    assert set().union(*map(rule_keys, takers)) == set(PARAMETERS)
