"""`coterie fit --records`, `--link`, `coterie ask --records`, and the hint."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from coterie import Dossier, load
from reference.records import pairwise, people


def write(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


@pytest.fixture
def records(folder):
    """people.csv with ids p0, p1, …; their columns and truth."""
    columns, truth = people(80)
    ids = [f"p{row}" for row in range(truth.size)]
    write("people.csv", ["id", *columns], zip(ids, *columns.values(), strict=True))
    return columns, truth


def test_rows_come_back_with_clusters_and_pairs_with_probabilities(records, run, rows):
    _columns, truth = records
    write("pairs.csv", ["a", "b", "kind"], [["p0", "p1", "different"]])
    result = run(
        "fit", "people.csv", "--records", "--id", "id", "--constraints", "pairs.csv",
        "-o", "out.csv", "--matches", "matches.csv",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    labels = np.array([int(row["cluster"]) for row in rows("out.csv")])
    assert pairwise(labels, truth)[2] > 0.95
    assert "Compared by given (text), surname (text)" in result.stdout
    assert "0 of 1 answer broken" in result.stdout
    matches = rows("matches.csv")
    chances = [float(row["probability"]) for row in matches]
    assert chances == sorted(chances, reverse=True)
    assert min(chances) >= 0
    joined = [(row["a"], row["b"]) for row in matches if row["together"] == "yes"]
    assert all(labels[int(a[1:])] == labels[int(b[1:])] for a, b in joined)
    assert len(joined) == sum(n * (n - 1) // 2 for n in np.bincount(labels))


def test_fields_choose_columns_and_kinds(records, run):
    fields = "given:text,born:date,phone"
    result = run("fit", "people.csv", "--records", "--id", "id", "--fields", fields, "--json")
    assert result.exit_code == 0, result.output
    values = json.loads(result.stdout)
    assert values["fields"] == {"given": "text", "born": "date", "phone": "text"}
    assert values["n_clusters"] == sum(values["sizes"].values())


def test_two_files_are_linked(records, run, rows):
    columns, truth = records
    _, first = np.unique(truth, return_index=True)
    later = np.setdiff1d(np.arange(truth.size), first)
    later = later[np.unique(truth[later], return_index=True)[1]]
    for name, chosen in (("a.csv", first), ("b.csv", later)):
        table = np.array(list(columns.values()), dtype=object)[:, chosen].T
        write(
            name, ["id", *columns], [[f"p{r}", *row] for r, row in zip(chosen, table, strict=True)]
        )
    result = run("fit", "--link", "a.csv", "b.csv", "--id", "id", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    written = rows("out.csv")
    assert [row["source"] for row in written] == ["a.csv"] * first.size + ["b.csv"] * later.size
    labels = np.array([int(row["cluster"]) for row in written])
    for source in ("a.csv", "b.csv"):
        held = [
            label for label, row in zip(labels, written, strict=True) if row["source"] == source
        ]
        assert len(set(held)) == len(held)
    assert pairwise(labels, truth[np.concatenate([first, later])])[2] > 0.95


def test_the_model_is_saved(records, run):
    assert run("fit", "people.csv", "--records", "--id", "id", "--save", "model").exit_code == 0
    columns, _ = records
    np.testing.assert_array_equal(load("model").labels_, Dossier().fit(columns).labels_)


def test_data_that_look_like_records_are_told_so(records, run, data):
    for more in (("--constraints", "known.csv"), ()):
        write("known.csv", ["a", "b", "kind"], [["p0", "p1", "cannot"]])
        result = run("fit", "people.csv", "--id", "id", *more)
        assert "these rows look like records" in result.stderr
        assert "--records" in result.stderr
    result = run("fit", "data.csv", "--id", "id", "-k", 3, "--method", "pckmeans")
    assert "look like records" not in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--records", "-k", 3), "leave -k out"),
        (("--records", "--workers", 2), "--workers has no effect with --records"),
        (("--records", "--set", "w=1"), "--set has no effect with --records"),
        (("--workers", 2, "--exclusive", "id", "-k", 3, "--method", "pckmeans"), "parquet"),
        (("--records", "--scale"), "--scale is not for --records"),
        (("--records", "--fields", "nmae:text"), "no column 'nmae'"),
        (("--records", "--fields", "given:words"), "kind of the field 'given'"),
        (("--records", "--exclusive", "sauce"), "no column 'sauce'"),
        (("--fields", "given"), "--fields is for --records"),
        (("--link", "people.csv", "--exclusive", "town"), "leave --exclusive out"),
    ],
)
def test_options_that_cannot_be_used_are_refused(records, run, options, message):
    result = run("fit", "people.csv", "--id", "id", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_records_are_asked_about_and_the_log_goes_on(records, run, rows):
    command = ("ask", "people.csv", "--id", "id", "--records", "--seed", 1)
    first = run(*command, input="ynuq")
    assert first.exit_code == 0, first.output
    assert "given" in first.stdout
    assert "Question 3" in first.stdout
    again = run(*command, input="q")
    assert "Going on after 3 answers" in again.stdout
    assert len(rows("people.csv.labels.csv")) == records[1].size
    assert len(rows("people.csv.constraints.csv")) == 2


def test_asking_about_records_takes_no_k(records, run):
    result = run("ask", "people.csv", "--records", "-k", 3)
    assert result.exit_code == 2
    assert "leave -k" in result.stderr
