"""`coterie fit --like`: old numbers, and what moved."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coterie.tables import load_bundle

QUICK = ("--drop", "class", "-k", 3, "--method", "pckmeans")


def shuffled(path, source="data.csv", drop=2, extra=()):
    """A table with the rows in another order, some left out and some added."""
    head, *rows = Path(source).read_text(encoding="utf-8").splitlines()
    kept = [rows[at] for at in np.random.default_rng(0).permutation(len(rows))[drop:]]
    Path(path).write_text("\n".join([head, *kept, *extra]) + "\n", encoding="utf-8")


def test_numbers_stay_where_rows_came_went_and_changed_places(data, run, rows):
    assert run("fit", "data.csv", "--id", "id", *QUICK, "--save", "old").exit_code == 0
    shuffled("later.csv", extra=["n1,0.1,0.1,Ulm,x"])
    result = run(
        "fit", "later.csv", "--id", "id", *QUICK, "--seed", 9, "--like", "old", "-o", "o.csv"
    )
    assert result.exit_code == 0, result.output
    assert "Numbered like old: 28 rows stayed, 0 moved, 1 new, 2 gone" in result.output
    old = load_bundle("old")
    was = dict(zip(old.ids, old.model.labels_.tolist(), strict=True))
    for row in rows("o.csv"):
        assert int(row["cluster"]) == was.get(row["id"], was["a0"])


def test_scripts_get_every_row_that_moved(data, run):
    assert run("fit", "data.csv", "--id", "id", *QUICK, "--save", "old").exit_code == 0
    result = run("fit", "data.csv", "--id", "id", *QUICK[:2], "-k", 4, "--method", "pckmeans",
                 "--like", "old", "--json")  # fmt: skip
    found = json.loads(result.stdout)["changes"]
    moved = [row for row in found["rows"] if row["what"] == "moved"]
    assert found["n_same"] + len(moved) == 30
    assert moved
    assert all(row["after"] == 3 for row in moved)
    assert {pair["what"] for pair in found["clusters"]} >= {"kept", "split"}


def test_without_ids_rows_go_by_their_order_or_are_refused(data, run):
    drop = ("--drop", "class,id", "-k", 3, "--method", "pckmeans")
    assert run("fit", "data.csv", *drop, "--save", "old").exit_code == 0
    result = run("fit", "data.csv", *drop, "--seed", 5, "--like", "old")
    assert "30 rows stayed" in result.output
    assert "by their order" in result.output
    shuffled("later.csv")
    result = run("fit", "later.csv", *drop, "--like", "old")
    assert result.exit_code != 0
    assert "Fit both with --id COLUMN" in result.output


def test_records_and_damaged_ids_are_told(data, run):
    assert run("fit", "data.csv", "--id", "id", *QUICK, "--save", "old").exit_code == 0
    result = run("fit", "data.csv", "--records", "--like", "old")
    assert result.exit_code != 0
    assert "old is no model of records" in result.output
    Path("old/ids.json").write_text('["a"]', encoding="utf-8")
    result = run("fit", "data.csv", "--id", "id", *QUICK, "--like", "old")
    assert result.exit_code != 0
    assert "does not hold 30 ids" in result.output


@pytest.mark.parametrize("method", ["mosaic", "ppc", "tvclust", "copkmeans"])
def test_every_method_can(data, run, method):
    fit = ("fit", "data.csv", "--id", "id", "--drop", "class,town", "--method", method)
    count = () if method == "tvclust" else ("-k", 3)
    assert run(*fit, *count, "--seed", 1, "--save", "old").exit_code == 0
    result = run(*fit, *count, "--seed", 2, "--like", "old")
    assert result.exit_code == 0, result.output
    assert "30 rows stayed, 0 moved" in result.output
