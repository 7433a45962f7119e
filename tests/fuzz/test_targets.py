"""A few cases of what `make fuzz` goes on with, and what it has found so far."""

from __future__ import annotations

import numpy as np
import pytest
import targets
from fits import hard_labels, records, rows_in_files, session_log
from forged_logs import forged_log
from targets import damaged_log, damaged_model, engine_and_twin, forged_model

from coterie import Constraints, HMRFKMeans, Mosaic, MPCKMeans, PCKMeans
from coterie.exceptions import InfeasibleConstraints
from coterie.inference import ENGINES, Engine


@pytest.mark.parametrize(
    ("target", "count"),
    [
        (damaged_model, 120),
        (forged_model, 240),
        (damaged_log, 60),
        (forged_log, 40),
        (engine_and_twin, 40),
        (hard_labels, 80),
        (rows_in_files, 60),
        (records, 100),
        (session_log, 80),
    ],
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


@pytest.mark.parametrize("way", ["warm_start", "init"])
@pytest.mark.parametrize("cls", [PCKMeans, MPCKMeans, HMRFKMeans])
@pytest.mark.parametrize("k", [1, 2])
def test_labels_to_go_on_from_may_break_what_is_hard_now(cls, k, way):
    """Local search went on from them, and a hard pair stayed broken without a word."""
    X = np.random.default_rng(0).normal(size=(14, 2))
    links = [(5, 6), (6, 7), (5, 7)]
    hard = Constraints(14, cannot_link=links, cannot_weight=np.inf)
    model = cls(k, random_state=0).fit(X)
    model = model.set_params(warm_start=True) if way == "warm_start" else cls(k, init=model)
    with pytest.raises(InfeasibleConstraints):
        model.fit(X, constraints=hard)
    one = Constraints(14, cannot_link=links[:1], cannot_weight=np.inf)
    if k == 2:
        labels = model.fit(X, constraints=one).labels_
        assert labels[5] != labels[6]


def test_one_cluster_and_rows_that_are_kept_apart():
    """Mosaic divided by zero."""
    hard = Constraints(7, cannot_link=[(0, 1)], cannot_weight=np.inf)
    X = np.random.default_rng(0).normal(size=(7, 2))
    with pytest.raises(InfeasibleConstraints, match="rows 0, 1"):
        Mosaic(1, random_state=0).fit(X, constraints=hard)


@pytest.mark.parametrize("seed", [2002982273, 2143692235, 1416707877])
def test_forged_logs_that_ended_in_errors_that_named_nothing(seed, tmp_path):
    """A redo of nothing, an answer that is no word, a row with the number 2^62."""
    forged_log(seed, tmp_path)


@pytest.mark.parametrize("seed", [594634010, 1484862123])
def test_a_soft_group_of_more_rows_than_labels_is_no_hard_one(seed, tmp_path):
    """Found by `make fuzz`: after a fit without pairs, "no labelling meets the hard edges"."""
    hard_labels(seed, tmp_path)


@pytest.mark.parametrize("seed", [1461222970, 341658137, 1572766044])
def test_a_damaged_npz_is_told_by_its_name(seed, tmp_path):
    """Found by `make fuzz`: the system's "Invalid argument", of a place before the file's start."""
    rows_in_files(seed, tmp_path)
