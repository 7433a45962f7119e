"""`coterie compare`: the library's numbers; a failure is a line; Ctrl-C keeps what is done."""

from __future__ import annotations

import itertools
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from terminal_cli import Terminal

from coterie import Constraints, MPCKMeans, PCKMeans
from coterie.cli.exits import Exit
from coterie.metrics import adjusted_rand_score, constraint_satisfaction, evaluate

COMPARE = ("compare", "data.csv", "pairs.csv", "--id", "id", "-k", "3", "--truth", "class")


@pytest.fixture
def blurred(folder):
    """data.csv with three classes that overlap, and 25 pairs some of which are wrong."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=60)
    X = np.round(2 * y[:, None] + rng.normal(size=(60, 2)), 3)
    lines = [f"r{t},{a},{b},{'xyz'[c]}" for t, ((a, b), c) in enumerate(zip(X, y, strict=True))]
    Path("data.csv").write_text("\n".join(["id,a,b,class", *lines]))
    ends = rng.choice(60, size=(25, 2), replace=False)
    must = (y[ends[:, 0]] == y[ends[:, 1]]) ^ (rng.random(25) < 0.1)
    kinds = np.where(must, "must", "cannot")
    lines = [f"r{i},r{j},{kind}" for (i, j), kind in zip(ends, kinds, strict=True)]
    Path("pairs.csv").write_text("\n".join(["a,b,kind", *lines]))
    return X, y, Constraints(60, ends[must], ends[~must])


def test_the_numbers_are_those_of_the_library(blurred, run):
    X, y, known = blurred
    result = run(
        *COMPARE, "--methods", "pckmeans,MPCK-Means", "-k", 30, "--runs", 3, "--seed", 5, "--json"
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["n_rows"], told["n_pairs"], told["runs"], told["seed"]) == (60, 25, 3, 5)
    assert [row["method"] for row in told["methods"]] == ["pckmeans", "mpckmeans"]
    for row, cls in zip(told["methods"], (PCKMeans, MPCKMeans), strict=True):
        labels = [
            cls(30, random_state=seed).fit(X, constraints=known).labels_ for seed in range(5, 8)
        ]
        alike = [adjusted_rand_score(a, b) for a, b in itertools.combinations(labels, 2)]
        assert row["stability"] == pytest.approx(np.mean(alike))
        broken = [constraint_satisfaction(found, known).n_broken for found in labels]
        assert row["n_broken"] == pytest.approx(np.mean(broken))
        for name in ("ari", "nmi", "f"):
            expected = np.mean([evaluate(y, found)[name] for found in labels])
            assert row[name] == pytest.approx(expected)
        assert row["n_clusters"] == pytest.approx(np.mean([len(set(f)) for f in labels]))
        assert row["runs"] == 3
        assert row["seconds"] > 0
        assert row["error"] is None
    assert told["methods"][0]["stability"] < 1, "else the seeds make no difference in this test"


def test_held_out_rows_are_those_in_no_pair_and_without_pairs_means_none(blurred, run):
    X, y, known = blurred
    result = run(*COMPARE, "--methods", "pckmeans", "--runs", 1, "--held-out", "--without-pairs")
    assert result.exit_code == 0, result.output
    plain = PCKMeans(3, random_state=0).fit(X).labels_
    told = PCKMeans(3, random_state=0).fit(X, constraints=known).labels_
    free = np.setdiff1d(np.arange(60), known.pairs)
    lines = result.stdout.splitlines()
    assert lines[1].startswith("pckmeans, no pairs ")
    assert lines[2].startswith("pckmeans  ")
    for line, labels in zip(lines[1:3], (plain, told), strict=True):
        assert f" {evaluate(y[free], labels[free])['ari']:.3f} " in line
        assert f" {constraint_satisfaction(labels, known).n_broken} " in line
    assert not np.array_equal(plain, told)


def test_without_truth_there_are_no_scores(blurred, run):
    arguments = ("compare", "data.csv", "pairs.csv", "--id", "id", "--drop", "class", "-k", 3)
    result = run(*arguments, "--methods", "pckmeans", "--runs", 2)
    assert result.exit_code == 0, result.output
    assert result.stdout.split("\n")[0].split() == (
        ["method", "clusters", "time", "broken", "pairs", "stability"]
    )
    told = json.loads(run(*arguments, "--methods", "pckmeans", "--runs", 2, "--json").stdout)
    assert "ari" not in told["methods"][0]


def test_the_truth_is_not_clustered_by(blurred, run):
    """Were it, the classes one-hot would lift the scores of overlapping classes."""
    X, y, known = blurred
    told = json.loads(run(*COMPARE, "--methods", "pckmeans", "--runs", 1, "--json").stdout)
    labels = PCKMeans(3, random_state=0).fit(X, constraints=known).labels_
    assert told["methods"][0]["ari"] == pytest.approx(adjusted_rand_score(y, labels))
    result = run(*COMPARE, "--features", "a,class")
    assert result.exit_code == Exit.BAD_INPUT
    assert "'class' is the truth" in result.output


def test_a_method_that_fails_says_why_and_the_others_go_on(blurred, run):
    Path("pairs.csv").write_text(
        "a,b,kind,weight\nr0,r1,must,inf\nr1,r2,must,inf\nr3,r4,must,1\nr0,r5,cannot,1\n"
    )
    result = run(
        "compare", "data.csv", "pairs.csv", "--id", "id", "--drop", "class",
        "--methods", "copkmeans,dpmeans,tvclust", "--runs", 1,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[1].startswith("copkmeans ")
    assert "failed: --method copkmeans needs the number of clusters: give -k." in lines[1]
    assert lines[2].startswith("dpmeans, no pairs ")
    assert lines[3].startswith("tvclust ")


def test_clashing_hard_pairs_are_named_and_if_all_fail_the_exit_code_says_so(blurred, run):
    triangle = "a,b,kind,weight\nr0,r1,cannot,inf\nr1,r2,cannot,inf\nr0,r2,cannot,inf\n"
    Path("pairs.csv").write_text(triangle)
    arguments = ("compare", "data.csv", "pairs.csv", "--id", "id", "--drop", "class", "-k", 2)
    result = run(*arguments, "--methods", "pckmeans,copkmeans", "--runs", 2, "--json")
    assert result.exit_code == Exit.UNSATISFIABLE
    told = json.loads(result.stdout)
    for row in told["methods"]:
        assert "r0 ≠ r1, r0 ≠ r2, r1 ≠ r2" in row["error"]
        assert row["runs"] == 0


def test_an_error_nobody_foresaw_is_a_line_too(blurred, run, monkeypatch):
    def fail(self, *arguments, **options):
        raise ZeroDivisionError("oh no")

    monkeypatch.setattr(MPCKMeans, "fit", fail)
    result = run(*COMPARE, "--methods", "mpckmeans,pckmeans", "--runs", 1)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "failed: ZeroDivisionError: oh no" in lines[1]
    assert lines[2].startswith("pckmeans ")
    assert run(*COMPARE, "--methods", "mpckmeans").exit_code == Exit.BUG


@pytest.mark.parametrize("method", ["ppc", "tvclust", "gpkmeans"])
def test_methods_for_dense_rows_say_so_of_words(folder, run, method):
    words = ["apple pear", "pear plum apple", "car road", "road engine car"] * 5
    lines = [json.dumps({"text": text}) for text in words]
    Path("t.jsonl").write_text("\n".join(lines))
    Path("p.csv").write_text("a,b,kind\n0,1,must\n0,2,cannot\n")
    k = () if method == "tvclust" else ("-k", 2)
    words = ("--columns", "text:words")
    result = run("compare", "t.jsonl", "p.csv", *words, *k, "--methods", method)
    assert result.exit_code == Exit.BAD_INPUT
    assert "does not take sparse rows" in result.stdout
    fitted = run("fit", "t.jsonl", *words, *k, "--method", method)
    assert fitted.exit_code == Exit.BAD_INPUT
    assert "choose another method, for instance mosaic" in fitted.stderr
    assert run("fit", "t.jsonl", "--text", "text", *k, "--method", method).exit_code == 0


def test_ctrl_c_shows_what_is_done(blurred, run, monkeypatch):
    fit, seen = MPCKMeans.fit, []

    def interrupted(self, *arguments, **options):
        seen.append(self.random_state)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *arguments, **options)

    monkeypatch.setattr(MPCKMeans, "fit", interrupted)
    result = run(*COMPARE, "--methods", "mpckmeans,pckmeans", "--runs", 4, "--json")
    assert result.exit_code == Exit.STOPPED_EARLY
    first, second = json.loads(result.stdout)["methods"]
    assert (first["runs"], first["error"]) == (2, None)
    assert seen == [0, 1, 2]
    assert second["runs"] == 0
    assert "Ctrl-C" in second["error"]


def test_methods_without_chance_run_once(blurred, run):
    result = run(*COMPARE, "--methods", "completelink,pckmeans", "--runs", 3, "--json")
    told = json.loads(result.stdout)
    assert [row["runs"] for row in told["methods"]] == [1, 3]
    assert told["methods"][0]["stability"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "pckmeens"), "Did you mean 'pckmeans'?"),
        (("--methods", "pckmeans,,ppc"), "has an empty name"),
        (("--truth", "klass"), "Did you mean 'class'?"),
        (("--runs", "0"), "--runs"),
        (("--held-out",), "give --truth too"),
    ],
)
def test_bad_options_end_it_before_any_fit(blurred, run, arguments, message):
    result = run("compare", "data.csv", "pairs.csv", "--id", "id", "-k", 3, *arguments)
    assert result.exit_code == Exit.BAD_INPUT
    assert message in result.output


def test_rows_without_a_class_are_not_scored(blurred, run):
    text = Path("data.csv").read_text().replace(",x", ",")
    Path("data.csv").write_text(text)
    result = run(*COMPARE, "--methods", "pckmeans", "--runs", 1)
    assert result.exit_code == 0, result.output
    assert "rows without a class in 'class' are not scored" in result.stderr


def test_a_terminal_shows_which_fit_is_running(folder):
    np.save("x.npy", np.random.default_rng(0).normal(size=(3000, 4)))
    Path("pairs.csv").write_text("a,b,kind\n0,1,must\n")
    arguments = ("x.npy", "pairs.csv", "-k", 5, "--methods", "ppc,pckmeans", "--runs", 100_000)
    terminal = Terminal("compare", *arguments, kind="xterm")
    try:
        terminal.read_until("ppc, run ")
        terminal.read_until("of 100000")
        terminal.press("\x03")
        terminal.read_until("Ending after this step")
        terminal.read_until("stopped by Ctrl-C before its first run was done")
        terminal.read_until("Stopped early")
        assert terminal.close() == Exit.STOPPED_EARLY
    finally:
        terminal.process.kill()
