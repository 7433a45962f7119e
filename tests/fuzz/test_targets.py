"""A few cases of what `make fuzz` goes on with, and what it has found so far."""

from __future__ import annotations

import pytest
import targets
from targets import damaged_log, damaged_model, engine_and_twin, forged_model

from coterie.inference import ENGINES, Engine


@pytest.mark.parametrize(
    ("target", "count"),
    [(damaged_model, 120), (forged_model, 240), (damaged_log, 60), (engine_and_twin, 40)],
)
def test_the_first_cases_hold(target, count, tmp_path, record_property):
    record_property("tried", count)
    for seed in range(count):
        target(seed, tmp_path)


def test_an_engine_that_lies_is_found(monkeypatch, tmp_path):
    run = ENGINES["icm"].run
    monkeypatch.setitem(
        ENGINES, "icm", Engine(lambda model: run(model)._replace(energy=-1e9), labels=True)
    )
    with pytest.raises(AssertionError, match="engine icm, seed 1"):
        engine_and_twin(1, tmp_path)


def test_a_log_with_other_answers_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(targets, "outcome", lambda *_: "other events")
    with pytest.raises(AssertionError, match="log, seed 0: other events"):
        damaged_log(0, tmp_path)


def test_a_model_that_ends_in_a_cryptic_error_is_found(monkeypatch, tmp_path):
    def cryptic(path):
        raise IndexError("3 is out of bounds")

    monkeypatch.setattr(targets, "load", cryptic)
    with pytest.raises(AssertionError, match=r"seed 0.*IndexError"):
        damaged_model(0, tmp_path)
