"""Engines say what they can do, and estimators offer whatever is registered."""

from __future__ import annotations

import numpy as np
import pytest
from inference.problems import random_problem
from sklearn.datasets import load_iris

from coterie import PPC, Constraints, PCKMeans
from coterie.exceptions import InvalidParameter
from coterie.inference import ENGINES, Engine, NoFeasibleLabels, engines, icm, infer, mean_field
from reference.pairwise import enumerate_model


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_engines_do_what_they_say(name):
    engine = ENGINES[name]
    for seed in range(30):
        problem = random_problem(seed)
        lowest = enumerate_model(*problem[1:5])[0]
        if np.isinf(lowest):
            with pytest.raises(NoFeasibleLabels):
                infer(problem.model, name, random_state=0)
            continue
        found = infer(problem.model, name, random_state=0)
        assert (found.marginals is not None) == engine.marginals
        assert (found.edge_same is not None) == engine.marginals
        if engine.proof and found.converged:
            assert found.energy == pytest.approx(lowest, abs=1e-10)


def test_a_proving_engine_converges():
    for name in engines(proof=True):
        assert infer(random_problem(1).model, name).converged


def test_names_by_what_is_asked_for():
    assert engines() == engines(labels=True) == list(ENGINES)
    assert set(engines(marginals=True)) == {n for n, e in ENGINES.items() if e.marginals}
    assert engines(marginals=True, proof=True) == ["exact"]


def test_options_and_starts():
    assert ENGINES["icm"].takes == ("labels", "random_state")
    assert ENGINES["exact"].takes == ()
    assert set(ENGINES["exact"].options) == {"marginals", "max_table", "plan"}
    for engine in ENGINES.values():
        assert not {"model", "labels", "random_state"} & set(engine.options)


IRIS = load_iris()
PAIRS = Constraints(150, must_link=[(0, 1), (50, 51)], cannot_link=[(0, 50), (60, 120), (120, 61)])


def test_a_registered_engine_is_offered(monkeypatch):
    """By every estimator that asks for what it can do, and by none that asks for more."""
    asked = []

    def toy_labels(model, labels=None, *, random_state=None):
        asked.append("labels")
        return icm(model, labels, random_state=random_state)

    def toy_marginals(model, *, random_state=None):
        asked.append("marginals")
        return mean_field(model, random_state=random_state)

    monkeypatch.setitem(ENGINES, "toy_labels", Engine(toy_labels))
    monkeypatch.setitem(ENGINES, "toy_marginals", Engine(toy_marginals, marginals=True))
    PCKMeans(3, inference="toy_labels", random_state=0).fit(IRIS.data, constraints=PAIRS)
    assert set(asked) == {"labels"}
    PPC(3, inference="toy_marginals", random_state=0).fit(IRIS.data, constraints=PAIRS)
    assert set(asked) == {"labels", "marginals"}
    with pytest.raises(InvalidParameter, match="toy_marginals"):
        PPC(3, inference="toy_labels").fit(IRIS.data, constraints=PAIRS)
    with pytest.raises(InvalidParameter, match="toy_labels"):
        PCKMeans(3, inference="toy").fit(IRIS.data, constraints=PAIRS)
