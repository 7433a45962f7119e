"""`coterie fit --records`, `--link`, `coterie ask --records`, and the hint."""

from __future__ import annotations

import csv
import json
from pathlib import Path

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


def test_fields_whose_names_hold_commas_are_quoted(folder, run):
    columns, _ = people(40)
    names = ["Street, No." if name == "street" else name for name in columns]
    write("people.csv", names, zip(*columns.values(), strict=True))
    for fields in ('"Street, No.":text, given', 'given, "Street, No.:text"'):
        result = run("fit", "people.csv", "--records", "--fields", fields, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["fields"] == {"Street, No.": "text", "given": "text"}
    refused = run("fit", "people.csv", "--records", "--fields", "given,,street")
    assert "has an empty name" in refused.output
    assert "has an empty name" in run("fit", "people.csv", "--records", "--fields", "").output


def test_an_odd_value_among_prices_is_warned_about(folder, run):
    columns, _ = people(40)
    n = len(columns["given"])
    prices = ["on request", "-", *(f"{row}.50" for row in range(n - 2))]
    write("people.csv", [*columns, "price"], zip(*columns.values(), prices, strict=True))
    result = run("fit", "people.csv", "--records", "--only-labels", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    assert "1 of its values are none ('on request' in row 0)" in " ".join(result.output.split())


def test_ids_and_clusters_alone(records, run):
    result = run("fit", "people.csv", "--records", "--id", "id", "--only-labels", "-o", "-")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:2] == ["id,cluster", "p0,0"]


def test_columns_to_block_by_need_not_be_compared(records, run):
    how = ["--id", "id", "--drop", "phone", "--block", "phone", "--json"]
    result = run("fit", "people.csv", "--records", *how)
    assert result.exit_code == 0, result.output
    assert "phone" not in json.loads(result.stdout)["fields"]
    refused = run("fit", "people.csv", "--records", "--id", "id", "--block", "fax")
    assert "no column 'fax' (--block)" in refused.output
    assert "--block is for --records" in run("fit", "people.csv", "--block", "phone").output


def test_a_page_tells_why_and_the_threshold_is_chosen(records, run):
    result = run(
        "fit", "people.csv", "--records", "--id", "id", "--threshold", "0.97",
        "--report", "page.html", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    values = json.loads(result.stdout)
    assert values["threshold"] == 0.97
    assert values["report"] == "page.html"
    page = Path("page.html").read_text(encoding="utf-8")
    assert 'class="waterfall"' in page
    assert "<bdi>p" in page
    again = run("fit", "people.csv", "--records", "--report", "page.html")
    assert again.exit_code == 3, again.output
    assert "page.html" in again.output


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


def test_linked_files_may_spell_and_order_columns_their_own_way_and_say_what_is_left(folder, run):
    names = [f"{a} {b}" for a in ("ann", "bob", "cid") for b in ("lee", "ray", "orr", "fox")]
    write("x.csv", ["name", "town", "e-mail"], [[n, "bern", f"{n[:3]}@x"] for n in names])
    write(
        "y.csv", ["Town", "E_Mail", "NAME", "age"], [["bern", f"{n[:3]}@x", n, "3"] for n in names]
    )
    result = run("fit", "--link", "x.csv", "y.csv", "-o", "spelt.csv")
    assert result.exit_code == 0, result.output
    assert "Compared by name (text), town (text), e-mail (text)" in result.output
    assert "y.csv alone has age" in result.output


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


# -- a saved model -------------------------------------------------------------------------------
@pytest.fixture
def saved(records, run):
    """The first records in old.csv and a model of them, the others in new.csv."""
    columns, truth = records
    n = truth.size - 20
    table = [[f"p{r}", *row] for r, row in enumerate(zip(*columns.values(), strict=True))]
    write("old.csv", ["id", *columns], table[:n])
    write("new.csv", ["id", *columns], table[n:])
    result = run("fit", "old.csv", "--records", "--id", "id", "--save", "model", "--json")
    assert result.exit_code == 0, result.output
    return truth, n


def test_new_records_are_predicted_by_a_saved_model(saved, run, rows):
    truth, n = saved
    result = run("predict", "model", "new.csv", "-o", "out.csv", "--json")
    assert result.exit_code == 0, result.output
    labels = np.array([int(row["cluster"]) for row in rows("out.csv")])
    known = np.isin(truth[n:], truth[:n])
    assert ((labels >= 0) == known).mean() > 0.85
    assert json.loads(result.stdout)["n_like_none"] == (labels < 0).sum()
    np.testing.assert_array_equal(labels, load("model").predict(table_of("new.csv")))
    words = run("predict", "model", "new.csv", "--only-labels")
    assert words.stdout.splitlines()[0] == "id,cluster"
    assert "like none of the known" in words.stderr
    refused = run("predict", "model", "new.csv", "--vectors", "v.npy")
    assert refused.exit_code != 0


def table_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([row[name] for row in rows], dtype=object) for name in rows[0]}


def test_a_saved_model_is_reported_on(saved, run):
    result = run("report", "model", "old.csv", "-o", "page.html")
    assert result.exit_code == 0, result.output
    page = Path("page.html").read_text(encoding="utf-8")
    assert 'class="waterfall"' in page
    assert "<bdi>p" in page
    other = run("report", "model", "new.csv", "-o", "other.html")
    assert "has 20 rows, and the model was fitted to" in other.output
    table = table_of("old.csv")
    order = np.arange(len(table["id"]))[::-1]
    write("turned.csv", list(table), zip(*(v[order] for v in table.values()), strict=True))
    turned = run("report", "model", "turned.csv", "-o", "other.html")
    assert "in the fit: give the table of the fit, in its order" in turned.output
    no_map = run("report", "model", "old.csv", "-o", "other.html", "--projection", "pca")
    assert "have no place on a map" in no_map.output


def test_numbers_are_those_of_an_earlier_model(saved, run, rows):
    _, n = saved
    before = load("model").labels_
    result = run(
        "fit", "people.csv", "--records", "--id", "id", "--like", "model", "-o", "out.csv", "--json"
    )
    assert result.exit_code == 0, result.output
    now = np.array([int(row["cluster"]) for row in rows("out.csv")])[:n]
    assert (now == before).mean() > 0.9
    values = json.loads(result.stdout)
    assert values["changes"]["n_same"] >= (now == before).sum()
    words = run("fit", "people.csv", "--records", "--id", "id", "--like", "model")
    assert "Numbered like model:" in words.stdout
