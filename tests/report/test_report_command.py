"""`coterie report`, from saved model and files to a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from report.pages import Page

from coterie.cli.main import main

N = 30


def run(*arguments):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """data.csv and pairs.csv, and model/ fitted to both."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["id,height,weight,town,class"]
    for t in range(N):
        height, weight = 10 * (t % 3) + rng.normal(size=2)
        lines.append(f"{'abc'[t % 3]}{t},{height:.3f},{weight:.3f},<b>Ulm</b>,{'xyz'[t % 3]}")
    Path("data.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(sys, "argv", ["coterie", "fit", "data.csv"])  # noted by fit
    Path("pairs.csv").write_text("a,b,kind\na0,a3,must\na0,b1,cannot\na0,c2,must\n")
    fitted = run(
        *("fit", "data.csv", "--constraints", "pairs.csv", "--id", "id", "-k", 3, "--seed", 1),
        *("--features", "height,weight", "--method", "pckmeans", "--save", "model"),
    )
    assert fitted.exit_code == 0, fitted.output
    return tmp_path


def page_of(path="report.html"):
    return Page(Path(path).read_text(encoding="utf-8"))


def test_a_page_in_the_users_words(folder):
    result = run(
        "report", "model", "data.csv", "pairs.csv", "--truth", "class", "--title", "My <b>"
    )
    assert result.exit_code == 0, result.output
    assert result.stdout == "Report on 30 rows in report.html\n"
    page = page_of()
    assert page.headings(1) == ["My <b>"]
    for words in (
        "30 rows of 2 columns were divided into 3 clusters by PCKMeans",
        "told about 3 pairs (2 must-links and 1 cannot-link)",
        "a0 and c2",
        "adjusted Rand index is",
        "height",
        "<b>Ulm</b>",
        "coterie fit data.csv",
        "seed",
    ):
        assert words in page.text
    assert "b" not in page.tags


def test_json_and_quiet(folder):
    told = run("report", "model", "data.csv", "pairs.csv", "--json")
    assert json.loads(told.stdout)["output"] == "report.html"
    assert run("report", "model", "data.csv", "pairs.csv", "--quiet", "--force").output == ""


def test_pairs_that_are_left_out_are_asked_for(folder):
    result = run("report", "model", "data.csv")
    assert result.exit_code == 0
    assert "fitted with pairs.csv" in result.stderr
    assert "not handed to this report" in page_of().text


def test_other_pairs_or_rows_than_those_of_the_fit_are_noticed(folder):
    assert "in fitting" not in run("report", "model", "data.csv", "pairs.csv").stderr
    Path("other.csv").write_text("a,b,kind\na0,a3,cannot\na0,b1,must\na0,a6,cannot\n")
    told = run("report", "model", "data.csv", "other.csv", "--force")
    assert "3 of the pairs in other.csv are broken, but 1 were in fitting" in told.stderr
    header, a0, b1, *rest = Path("data.csv").read_text().splitlines()
    Path("turned.csv").write_text("\n".join([header, b1, a0, *rest]))
    told = run("report", "model", "turned.csv", "pairs.csv", "--force")
    assert "2 of the pairs in pairs.csv are broken, but 1 were in fitting" in told.stderr


def test_pairs_that_contradict_are_named_by_id(folder):
    Path("clash.csv").write_text("a,b,kind,weight\na0,a3,must,inf\na0,a3,cannot,inf\n")
    result = run("report", "model", "data.csv", "clash.csv")
    assert result.exit_code == 1
    assert "a0 ≠ a3, a0 = a3" in result.stderr


def test_an_existing_page_is_kept_unless_forced(folder):
    Path("report.html").write_text("mine")
    refused = run("report", "model", "data.csv")
    assert refused.exit_code == 3
    assert "--force" in refused.stderr
    assert Path("report.html").read_text() == "mine"
    assert run("report", "model", "data.csv", "--force").exit_code == 0
    assert "PCKMeans" in page_of().text


def test_a_full_disk_leaves_nothing(folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    before = sorted(folder.iterdir())
    result = run("report", "model", "data.csv", "pairs.csv")
    assert result.exit_code == 3
    assert "No space left" in result.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("model", "pairs.csv"), 2, "has 3 rows, but model was fitted to 30"),
        (("model", "data.csv", "--truth", "clas"), 2, "Did you mean 'class'"),
        (("model", "data.csv", "nothing.csv"), 2, "does not exist"),
        (("model", "data.csv", "data.csv"), 2, "needs columns a, b and kind"),
        (("nothing", "data.csv"), 2, "does not exist"),
        ((".", "data.csv"), 2, "is not a model saved by"),
        (("model", "data.csv", "-o", "nowhere/r.html"), 3, "is not a folder"),
        (("model", "data.csv", "-o", "model"), 3, "is a folder"),
        (("model", "data.csv", "--projection", "mds"), 2, "'mds' is not one of"),
    ],
)
def test_bad_input(folder, arguments, code, words):
    before = sorted(folder.rglob("*"))
    result = run("report", *arguments)
    assert result.exit_code == code
    assert words in " ".join(result.stderr.split())
    assert sorted(folder.rglob("*")) == before


def test_scaled_columns_are_shown_in_their_own_units(folder):
    options = ("--features", "height,weight", "-k", 3, "--method", "pckmeans", "--seed", 1)
    lines = []
    for name, more in (("plain", ()), ("scaled", ("--scale",))):
        assert run("fit", "data.csv", *options, *more, "--save", name).exit_code == 0
        assert run("report", name, "data.csv", "-o", f"{name}.html").exit_code == 0
        lines.append([text for tag, text in page_of(f"{name}.html").pieces if tag == "li"])
    assert any("high height (19.6, overall 9.9)" in line for line in lines[1]), lines[1]
    assert {line[10:] for line in lines[0]} == {line[10:] for line in lines[1]}  # but for numbers


def test_truth_with_a_gap_is_named(folder):
    text = Path("data.csv").read_text().replace(",x\n", ",\n", 1)
    Path("data.csv").write_text(text)
    result = run("report", "model", "data.csv", "--truth", "class")
    assert result.exit_code == 2
    assert "(line 2): no class in column 'class'" in result.stderr


def test_text_and_array_files(folder):
    lines = [json.dumps({"words": w}) for w in ["red cat", "red dog", "blue sea", "blue sky"] * 5]
    Path("texts.jsonl").write_text("\n".join(lines))
    assert run("fit", "texts.jsonl", "--text", "words", "-k", 2, "--save", "t").exit_code == 0
    assert run("report", "t", "texts.jsonl", "-o", "t.html").exit_code == 0
    page = page_of("t.html").text
    assert "More here than elsewhere: " in page
    assert "“blue”" in page
    assert "t-SNE" in page
    np.save("rows.npy", np.random.default_rng(0).normal(size=(20, 3)))
    assert run("fit", "rows.npy", "-k", 2, "--save", "a").exit_code == 0
    assert run("report", "a", "rows.npy", "-o", "a.html").exit_code == 0
    assert "20 rows of 3 columns" in page_of("a.html").text


def test_a_fit_without_pairs_is_told_as_such(folder):
    fitted = run(
        *("fit", "data.csv", "--id", "id", "-k", 3, "--features", "height,weight"),
        *("--method", "pckmeans", "--save", "alone"),
    )
    assert fitted.exit_code == 0, fitted.output
    assert run("report", "alone", "data.csv", "-o", "alone.html").exit_code == 0
    page = Page(Path("alone.html").read_text(encoding="utf-8"))
    assert "No pairs were given: the clusters rest on the data alone." in page.text


def test_texts_are_counted_by_their_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = ("river water bridge boat flood", "engine wheel brake road car")
    lines = ["note"] + [f"{kinds[t % 2]} and {kinds[t % 2].split()[t % 5]}" for t in range(N)]
    Path("notes.csv").write_text("\n".join(lines) + "\n")
    fitted = run(
        "fit", "notes.csv", "--text", "note", "-k", 2, "--method", "pckmeans", "--save", "model"
    )
    assert fitted.exit_code == 0, fitted.output
    assert run("report", "model", "notes.csv", "-o", "page.html").exit_code == 0
    page = Page(Path("page.html").read_text(encoding="utf-8"))
    assert f"{N} rows of 10 words were divided into 2 clusters" in page.text
