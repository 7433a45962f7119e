"""`coterie suspects`: planted wrong pairs are found and shown in the user's ids."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coterie.cli.exits import Exit
from coterie.constraints import Constraints
from coterie.tables import load_bundle

HOW = ("--id", "id", "--drop", "class", "-k", "3", "--seed", "0")


@pytest.fixture
def planted(data, run):
    """Twenty right pairs among the fixture's three groups, and one wrong one: a0 = b1."""
    names = [f"{'abc'[t % 3]}{t}" for t in range(30)]
    lines = [f"{names[t]},{names[t + 3]},must" for t in range(0, 20, 2)]
    lines += [f"{names[t]},{names[t + 1]},cannot" for t in range(1, 20, 2)]
    Path("pairs.csv").write_text("\n".join(["a,b,kind", *lines, "a0,b1,must"]))


@pytest.mark.parametrize("method", ["mosaic", "ppc"])
def test_the_wrong_pair_is_first_and_probably_wrong(planted, run, method):
    result = run("suspects", "data.csv", "pairs.csv", *HOW, "--method", method, "-n", 3, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["method"], told["measure"]) == (method, "p_wrong")
    assert (told["n_pairs"], told["n_shown"]) == (21, len(told["pairs"]))
    first, *others = told["pairs"]
    assert (first["a"], first["b"], first["kind"]) == ("a0", "b1", "must")
    assert first["value"] > 0.5
    assert len(others) <= 2
    assert all(0.01 <= other["value"] < 0.1 for other in others)
    assert first["a_cluster"] != first["b_cluster"]
    assert (first["a_record"]["town"], first["b_record"]["town"]) == ("Ulm", "Rom")


def test_in_words_the_records_stand_side_by_side(planted, run):
    result = run("suspects", "data.csv", "pairs.csv", *HOW, "-n", 1, env={"COLUMNS": "60"})
    assert result.exit_code == 0, result.output
    head, said, names, *fields = [line for line in result.stdout.splitlines() if line]
    assert head.startswith("Of 21 pairs mosaic holds at least 1 to be wrong rather than right")
    assert said.startswith("1. The pairs say that a0 and b1 belong together: wrong with ")
    assert names.split() == ["a0", "b1"]
    assert [line.split()[:2] for line in fields[:3]] == [
        ["*", "height"],
        ["*", "weight"],
        ["*", "town"],
    ]
    assert all(len(line) <= 60 for line in fields)


def test_without_doubtful_pairs_none_is_said_to_be_wrong(data, run):
    result = run("suspects", "data.csv", "pairs.csv", *HOW)
    assert "Of 3 pairs mosaic doubts none" in result.stdout


def test_of_methods_that_do_not_weigh_pairs_the_broken_ones_are_shown(planted, run):
    arguments = ("suspects", "data.csv", "pairs.csv", *HOW, "--method", "pckmeans")
    told = json.loads(run(*arguments, "--set", "w=0.001", "--json").stdout)
    assert told["measure"] == "cost"
    assert [(pair["a"], pair["b"]) for pair in told["pairs"]] == [("a0", "b1")]
    words = run(*arguments, "--set", "w=0.001").stdout
    assert words.startswith("Of 21 pairs pckmeans broke 1\n")
    assert "costs 0.001;" in words
    Path("pairs.csv").write_text("a,b,kind\na0,a3,must\n")
    assert "Of 1 pairs pckmeans broke none" in run(*arguments).stdout


def test_a_saved_model_says_the_same_as_one_fitted_now(planted, run):
    saved = run("fit", "data.csv", "--constraints", "pairs.csv", *HOW, "--save", "m")
    assert saved.exit_code == 0, saved.output
    now = run("suspects", "data.csv", "pairs.csv", *HOW, "--json").stdout
    then = run("suspects", "data.csv", "pairs.csv", "--model", "m", "--json").stdout
    assert json.loads(now) == json.loads(then)
    table = load_bundle(Path("m")).model.suspect_pairs(10)
    doubted = table.value[table.value >= 0.01]
    assert [pair["value"] for pair in json.loads(then)["pairs"]] == doubted.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-k", 3), "fitted already: leave --clusters or --model out"),
        (("--scale",), "leave --scale or"),
        (("--id", "id"), "leave --id or"),
    ],
)
def test_a_saved_model_is_not_fitted_again(planted, run, arguments, message):
    run("fit", "data.csv", "--constraints", "pairs.csv", *HOW, "--save", "m")
    result = run("suspects", "data.csv", "pairs.csv", "--model", "m", *arguments)
    assert result.exit_code == Exit.BAD_INPUT
    assert message in result.output


def test_other_pairs_or_rows_than_the_models_are_refused(planted, run):
    run("fit", "data.csv", "--constraints", "pairs.csv", *HOW, "--save", "m")
    text = Path("pairs.csv").read_text()
    Path("other.csv").write_text(text.replace("a0,b1,must", "a0,b1,cannot"))
    result = run("suspects", "data.csv", "other.csv", "--model", "m")
    assert result.exit_code == Exit.BAD_INPUT
    assert "'a0' and 'b1' as must, which PAIRS does not say" in result.output
    lines = Path("data.csv").read_text().splitlines()
    Path("fewer.csv").write_text("\n".join(lines[:-1]))
    result = run("suspects", "fewer.csv", "pairs.csv", "--model", "m")
    assert result.exit_code == Exit.BAD_INPUT
    assert "has 29 rows, but m was fitted to 30" in result.output


def test_the_output_is_a_table_that_serves_as_pairs_again(planted, run, rows):
    result = run("suspects", "data.csv", "pairs.csv", *HOW, "-n", 4, "-o", "s.csv")
    assert result.exit_code == 0, result.output
    assert "Pairs in s.csv" in result.stdout
    listed = rows("s.csv")
    assert 1 <= len(listed) <= 4
    assert (listed[0]["a"], listed[0]["b"], listed[0]["kind"]) == ("a0", "b1", "must")
    assert float(listed[0]["p_wrong"]) > 0.5
    assert (listed[0]["a: town"], listed[0]["b: town"]) == ("Ulm", "Rom")
    again = run("check", "data.csv", "s.csv", "--id", "id", "--json")
    assert json.loads(again.stdout)["n_pairs"] == len(listed)
    assert run("suspects", "data.csv", "pairs.csv", *HOW, "-o", "s.csv").exit_code == (
        Exit.NOT_WRITTEN
    )
    assert "cannot hold pairs" in run("suspects", "data.csv", "pairs.csv", "-o", "s.npy").output


def test_cells_that_a_spreadsheet_would_run_are_neutralised(planted, run, rows):
    text = Path("data.csv").read_text().replace("Ulm", "=1+1")
    Path("data.csv").write_text(text)
    arguments = ("suspects", "data.csv", "pairs.csv", *HOW, "-n", 1)
    run(*arguments, "-o", "s.csv")
    run(*arguments, "-o", "raw.csv", "--raw")
    assert (rows("s.csv")[0]["a: town"], rows("raw.csv")[0]["a: town"]) == ("'=1+1", "=1+1")


def test_fields_are_chosen_and_else_limited(planted, run):
    arguments = ("suspects", "data.csv", "pairs.csv", *HOW, "-n", 1, "--json")
    (pair,) = json.loads(run(*arguments, "--fields", "class,town").stdout)["pairs"]
    assert list(pair["a_record"]) == ["class", "town"]
    (pair,) = json.loads(run(*arguments).stdout)["pairs"]
    assert list(pair["a_record"]) == ["height", "weight", "town", "class"]
    assert "Did you mean 'town'?" in run(*arguments, "--fields", "tonw").output
    rng = np.random.default_rng(0)
    wide = {f"x{j}": rng.normal(size=30) for j in range(20)}
    lines = [",".join(map(str, row)) for row in zip(*wide.values(), strict=True)]
    Path("wide.csv").write_text("\n".join([",".join(wide), *lines]))
    Path("p.csv").write_text("a,b,kind\n0,1,must\n")
    told = run("suspects", "wide.csv", "p.csv", "-k", 2, "--json")
    assert list(json.loads(told.stdout)["pairs"][0]["b_record"]) == [f"x{j}" for j in range(12)]


def test_rows_of_an_array_file_have_numbers_and_no_fields(folder, run):
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.normal(size=(20, 3)))
    Constraints(20, must_link=[(0, 1)], cannot_link=[(2, 3)]).save("pairs.csv")
    told = json.loads(run("suspects", "x.npy", "pairs.csv", "-k", 2, "--json").stdout)
    assert {(pair["a"], pair["b"]) for pair in told["pairs"]} == {("0", "1"), ("2", "3")}
    assert told["pairs"][0]["a_record"] == {}


def test_a_method_without_pairs_is_refused(data, run):
    result = run("suspects", "data.csv", "pairs.csv", "--id", "id", "--method", "dpmeans")
    assert result.exit_code == Exit.BAD_INPUT
    assert "does not use pairs" in result.output


@pytest.mark.parametrize("method", ["mosaic", "ppc", "tvclust"])
def test_the_probability_has_one_name_everywhere(method, data, run):
    k = () if method == "tvclust" else ("-k", 3)
    given = ("data.csv", "pairs.csv", "--id", "id", "--drop", "class,town", "--method", method, *k)
    assert run("suspects", *given, "-o", "s.csv").exit_code == 0
    assert Path("s.csv").read_text().startswith("a,b,kind,p_wrong,")
    told = json.loads(run("suspects", *given, "--json").stdout)
    assert told["measure"] == "p_wrong"
    assert run("fit", *given[:1], "--constraints", *given[1:], "--save", "m").exit_code == 0
    assert load_bundle("m").model.suspect_pairs(2).name == "p_wrong"


def test_a_pair_that_is_surely_right_is_no_suspect(data, run):
    """Such pairs were listed as "wrong with probability 0.00"."""
    for method in ("mosaic", "ppc"):
        result = run("suspects", data, "pairs.csv", "--id", "id", "-k", 3, "--method", method)
        assert result.exit_code == 0, result.output
        assert "probability 0.00" not in result.stdout
    shown = run("suspects", data, "pairs.csv", "--id", "id", "-k", 3, "--method", "ppc", "--json")
    values = [pair["value"] for pair in json.loads(shown.stdout)["pairs"]]
    assert all(value >= 0.01 for value in values)
