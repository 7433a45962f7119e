"""Odd values for what is given to strategies, sessions, oracles, folds and distortions.

As `test_odd_parameters.py` for estimators: a result, or a typed error that names the argument.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from odd_values import ODD, cryptic, error_of, parameters, rule_keys

from coterie import ActiveSession, Constraints, PairKFold, PCKMeans
from coterie.active import (
    STRATEGIES,
    BackgroundRefits,
    CallableOracle,
    ChatClient,
    LabelOracle,
    Leases,
    Program,
    Query,
    SetQuery,
    TextOracle,
    answer_all,
    run_programs,
)
from coterie.distortions import (
    Bregman,
    IDivergence,
    KLDivergence,
    Mahalanobis,
)
from coterie.parameter_table import PARAMETERS
from coterie.propagation import neighbor_graph, propagate_gaussian, propagate_graph

Y = np.arange(12) % 3
X = np.random.default_rng(0).normal(size=(12, 2)) + 6 * np.eye(3, 2)[Y]
KNOWN = Constraints(12, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1), (2, 3)])
PAIR, SET = Query((0, 1), "", ""), SetQuery((0, 1, 2), "", "")


class Case(NamedTuple):
    """A class (or function), arguments that are right, and what is done with the object."""

    made: Callable[..., Any]
    right: dict[str, Any]
    use: Callable[[Any], Any] = lambda made: made


def ask_twice(session: ActiveSession) -> None:
    question = session.ask()
    if question is not None:
        session.tell(question, "different").ask()


def plan(strategy: Any) -> None:
    ask_twice(ActiveSession(X, strategy=strategy, random_state=0, estimator=PCKMeans(3)))


def fit_by(distortion: Any) -> None:
    PCKMeans(3, distortion=distortion, random_state=0).fit(np.abs(X) + 0.1, constraints=KNOWN)


def close(made: Any) -> None:
    made.close()


def session() -> ActiveSession:
    return ActiveSession(X, strategy="random", random_state=0, weigh_annotators=True)


def lend(leases: Leases) -> None:
    lease = leases.take("ann")
    if lease is not None:
        leases.tell(lease.number, "same")


def run(program: Program) -> None:
    run_programs(session(), program, max_questions=1)


def same(asked: Any) -> Any:
    return ["same"] * len(asked) if isinstance(asked, list) else "same"


def strategy_case(made: type) -> Case:
    counted = "n_clusters" in parameters(made)
    return Case(made, {"n_clusters": 3} if counted else {}, plan)


CASES = [
    *map(strategy_case, STRATEGIES.values()),
    Case(ActiveSession, {"X": X, "random_state": 0, "strategy": "explore"}, ask_twice),
    Case(Leases, {"session": session()}, lend),
    Case(BackgroundRefits, {"session": session(), "lock": threading.RLock()}, close),
    Case(LabelOracle, {"y": Y}, lambda oracle: (oracle(PAIR), oracle(SET))),
    Case(CallableOracle, {"function": same}, lambda o: answer_all(session(), o, max_questions=1)),
    Case(TextOracle, {"complete": same, "records": list("abcdefghijkl")}, lambda o: o(PAIR)),
    Case(ChatClient, {"url": "http://localhost:1/v1", "model": "m"}, close),
    Case(Program, {"name": "p", "oracle": same, "backoff": 0.0}, run),
    Case(PairKFold, {"constraints": KNOWN, "n_splits": 2}, lambda folds: list(folds.split(X))),
    Case(IDivergence, {}, fit_by),
    Case(KLDivergence, {}, fit_by),
    Case(Mahalanobis, {}, fit_by),
    Case(Bregman, {"phi": np.square, "phi_prime": lambda v: 2 * v}, fit_by),
    Case(Constraints, {"n_samples": 12, "must_link": [(0, 1)], "cannot_link": [(1, 2)]}),
    Case(neighbor_graph, {"X": X}),
    Case(propagate_graph, {"graph": neighbor_graph(X), "constraints": KNOWN}),
    Case(
        propagate_gaussian,
        {"X": X, "labels": Y, "centers": np.eye(3, 2), "metrics": None, "constraints": KNOWN},
    ),
    Case(session().ask, {}),
    Case(session().tell, {"question": (0, 1), "answer": "same"}),
]
SAID = {"records": "record", "graph": "rows"}  # by which errors name what is of the wrong size
#: What is read as data is checked where it is read.
DATA = {"X", "constraints", "graph", "question", "answer", *parameters(Constraints)}
EACH = [
    pytest.param(case, name, id=f"{case.made.__qualname__}-{name}")
    for case in CASES
    for name in parameters(case.made)
]


@pytest.mark.parametrize(("case", "name"), EACH)
def test_odd_values_are_named_or_work(case: Case, name: str, record_property: Any) -> None:
    record_property("tried", len(ODD))

    def work() -> None:
        case.use(case.made(**(case.right | {name: value})))

    function = PARAMETERS.get(name) is PARAMETERS["function"]  # what it raises itself is its own
    for value in (value for value in ODD if not (function and callable(value))):
        error = error_of(work)
        assert not cryptic(error, SAID.get(name, name)), f"{name}={value!r}: {error!r}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.made.__qualname__)
def test_every_parameter_has_a_rule(case: Case) -> None:
    ruled = {key.rpartition(".")[2] for key in rule_keys(case.made)}
    assert not set(parameters(case.made)) - ruled - DATA
