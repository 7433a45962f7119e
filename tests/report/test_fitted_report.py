"""A report of a model with its table: in the words of the table, and wary of other pairs."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report.pages import Page

from coterie import PCKMeans
from coterie.exceptions import CoterieWarning, InvalidData, InvalidParameter
from coterie.report import build_fitted_report, build_report
from coterie.tables import (
    Bundle,
    Choices,
    Fitted,
    Table,
    how_made,
    read_fitted,
    read_inputs,
    save_bundle,
    write_table,
)

N = 30


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = 10 * (np.arange(N) % 3) + rng.normal(size=N)
    lines = [f"{'abc'[t % 3]}{t},{value:.3f},{'xyz'[t % 3]}" for t, value in enumerate(x)]
    Path("data.csv").write_text("\n".join(["id,height,class", *lines]))
    Path("pairs.csv").write_text("a,b,kind\na0,a3,must\na0,b1,cannot\na0,c2,must\n")
    return read_inputs("data.csv", "pairs.csv", Choices("id", truth="class", scale=True))


@pytest.fixture
def model(inputs):
    return PCKMeans(3, w=0.001, random_state=0).fit(inputs.X, constraints=inputs.constraints)


def quietly(fitted, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Page(build_fitted_report(fitted, **options))


def test_the_page_is_in_the_words_of_the_table(model, inputs):
    page = quietly(Fitted.of(model, inputs), truth="class", title="Mine")
    assert page.headings(1) == ["Mine"]
    for words in ("a0 and c2", "height", "adjusted Rand index is", "3 pairs"):
        assert words in page.text


def test_a_model_from_a_folder_and_one_from_memory_make_the_same_page(model, inputs):
    made = how_made(model, constraints="pairs.csv")
    save_bundle(Bundle(model, inputs.recipe, made), "folder")
    saved = read_fitted("folder", "data.csv", "pairs.csv")
    assert "folder" in quietly(saved).text
    unnamed = replace(saved, folder=None)
    assert (
        quietly(unnamed).text
        == quietly(replace(Fitted.of(model, inputs), bundle=saved.bundle)).text
    )


def test_pairs_that_are_missing_or_others_are_warned_of(model, inputs):
    save_bundle(Bundle(model, inputs.recipe, how_made(model, constraints="pairs.csv")), "folder")
    with pytest.warns(CoterieWarning, match="folder was fitted with pairs.csv; give it"):
        build_fitted_report(read_fitted("folder", "data.csv"))
    Path("other.csv").write_text("a,b,kind\na0,a3,cannot\na0,b1,must\na0,a6,cannot\n")
    with pytest.warns(CoterieWarning, match="3 of the pairs in other.csv are broken, but 1 were"):
        build_fitted_report(read_fitted("folder", "data.csv", "other.csv"))


def test_categories_stand_out_in_words_of_their_own(tmp_path):
    columns = {"town": ["Ulm", "Rom"] * 12, "height": np.linspace(1.5, 2, 24)}
    table = {name: np.array(values) for name, values in columns.items()}
    write_table(Table.of("t", table), tmp_path / "t.csv")
    read = read_inputs(tmp_path / "t.csv", None, Choices())
    page = Page(build_fitted_report(Fitted.of(PCKMeans(2, random_state=0).fit(read.X), read)))
    assert "town: Ulm (100%, overall 50%)" in page.text
    assert "high town" not in page.text
    model = PCKMeans(2, random_state=0).fit(read.X)
    assert re.search("stands out by (high|low) column [01]", build_report(model, read.X))
    with pytest.raises(InvalidParameter, match="kinds has 2 for 3 columns"):
        build_report(model, read.X, kinds=["number"] * 2)


def test_a_truth_that_cannot_be_used_is_named(model, inputs):
    fitted = Fitted.of(model, inputs)
    with pytest.raises(InvalidData, match=r"no column 'clas' \(`truth`\). Did you mean 'class'"):
        build_fitted_report(fitted, truth="clas")
    Path("data.csv").write_text(Path("data.csv").read_text().replace(",x\n", ",\n", 1))
    gap = read_inputs("data.csv", "pairs.csv", Choices("id", truth="class", scale=True))
    with pytest.raises(InvalidData, match=r"'a0' \(line 2\): no class in column 'class'"):
        build_fitted_report(Fitted.of(model, gap), truth="class")


@pytest.mark.parametrize(("also", "chip"), [(False, "dough"), (True, "body:dough")])
def test_words_of_texts_carry_the_column_only_where_there_are_several(also, chip, tmp_path):
    """The chips of one column of texts are its words."""
    words = {"bread": ["dough", "oven", "flour"], "boats": ["sail", "tide", "anchor"]}
    topics = [topic for topic in words for _ in range(12)]
    body = [" ".join(words[topic] * 2 + [f"w{t % 5}"]) for t, topic in enumerate(topics)]
    columns = {"body": body, **({"subject": [text[::-1] for text in body]} if also else {})}
    texts = {name: np.array(values, dtype=object) for name, values in columns.items()}
    write_table(Table.of("t", texts), tmp_path / "t.csv")
    read = read_inputs(tmp_path / "t.csv", None, Choices(text=tuple(columns)))
    page = build_fitted_report(Fitted.of(PCKMeans(2, random_state=0).fit(read.X), read))
    assert f">{chip}<" in page
