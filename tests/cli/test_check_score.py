"""`coterie check` and `coterie score`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from coterie.cli.exits import Exit
from coterie.constraints import Constraints
from coterie.metrics import evaluate


def pairs(*lines):
    Path("p.csv").write_text("a,b,kind\n" + "".join(f"{line}\n" for line in lines))


def test_check_counts_what_is_there(data, run):
    pairs("a0,a3,must", "a3,a6,1", "a6,a0,same", "a0,b1,cannot", "b1,a6,-1", "c2,b1,different")
    result = run("check", "data.csv", "p.csv", "--id", "id", "-k", 3, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["n_pairs"], told["n_must"], told["n_cannot"], told["n_hard"]) == (6, 3, 3, 0)
    assert (told["n_rows_in_pairs"], told["n_groups"], told["largest_group"]) == (5, 1, 3)
    assert told["n_redundant"] == len(told["redundant"]) == 2
    assert {(p["a"], p["b"]) for p in told["redundant"]} == {("a3", "a6"), ("b1", "a6")}
    assert told["satisfiable"] is True
    words = run("check", "data.csv", "p.csv", "--id", "id").stdout
    assert "6 pairs about 5 of 30 rows: 3 must, 3 cannot, 0 of them hard" in words
    assert "They do not contradict each other." in words


def test_contradictions_are_minimal_and_in_the_users_ids(data, run):
    pairs("a0,a3,must", "a3,a6,must", "a6,b1,must", "a0,a6,cannot", "c2,b4,cannot")
    result = run("check", "data.csv", "p.csv", "--id", "id", "--json")
    assert result.exit_code == Exit.UNSATISFIABLE
    told = json.loads(result.stdout)
    assert told["satisfiable"] is False
    (conflict,) = told["contradictions"]
    found = {(p["a"], p["b"], p["kind"]) for p in conflict}
    assert found == {("a0", "a3", "must"), ("a3", "a6", "must"), ("a0", "a6", "cannot")}
    words = run("check", "data.csv", "p.csv", "--id", "id").stdout
    assert "a0 = a3, a0 ≠ a6, a3 = a6" in words


def test_too_few_clusters_are_shown_by_the_pairs_that_need_more(data, run):
    triangle = ["a0,b1,cannot", "b1,c2,cannot", "a0,c2,cannot"]
    pairs(*triangle, "a3,b4,cannot")
    result = run("check", "data.csv", "p.csv", "--id", "id", "-k", 2, "--json")
    assert result.exit_code == Exit.UNSATISFIABLE
    told = json.loads(result.stdout)
    assert {f"{p['a']},{p['b']},{p['kind']}" for p in told["clash"]} == set(triangle)
    assert "raise -k" in told["verdict"]
    assert run("check", "data.csv", "p.csv", "--id", "id", "-k", 3).exit_code == 0


def test_soft_pairs_do_not_count_if_only_hard_ones_are_asked_about(data, run):
    Path("p.csv").write_text("a,b,kind,weight\n0,1,must,1\n0,1,cannot,inf\n")
    assert run("check", "data.csv", "p.csv").exit_code == Exit.UNSATISFIABLE
    assert run("check", "data.csv", "p.csv", "--hard-only").exit_code == 0


def test_what_is_not_decided_in_time_has_its_own_exit_code(data, run, monkeypatch):
    from coterie.exceptions import UndecidedFeasibility

    def undecided(*arguments):
        raise UndecidedFeasibility("not decided within 0 seconds")

    monkeypatch.setattr(Constraints, "check_feasible", undecided)
    result = run("check", "data.csv", "pairs.csv", "--id", "id", "-k", 3, "--json")
    assert result.exit_code == Exit.UNDECIDED
    assert json.loads(result.stdout)["satisfiable"] is None


def test_score_is_the_librarys(folder, run):
    rng = np.random.default_rng(0)
    true, found = rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    names = np.array(["x", "y", ""])[true]
    lines = [f"{name},{label}" for name, label in zip(names, found, strict=True)]
    Path("o.csv").write_text("\n".join(["truth,cluster", *lines]))
    result = run("score", "o.csv", "--truth", "truth", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    known = true < 2
    assert told.pop("notes") == [
        f"{int((~known).sum())} rows without a class in 'truth' are left out"
    ]
    assert told == evaluate(true[known], found[known])
    words = run("score", "o.csv", "--truth", "truth").stdout
    assert f"ARI         {told['ari']:.4f}" in words


def test_scores_of_other_columns_and_unlabelled_rows(folder, run):
    Path("o.csv").write_text("t,mine\na,1\nb,2\na,1\n")
    result = run("score", "o.csv", "--truth", "t", "--labels", "mine", "--json")
    assert json.loads(result.stdout)["ari"] == 1.0
    Path("o.csv").write_text("t,cluster\na,1\nb,\n")
    result = run("score", "o.csv", "--truth", "t")
    assert result.exit_code == Exit.BAD_INPUT
    assert "line 3: no cluster" in result.output
