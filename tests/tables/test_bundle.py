"""A model and its recipe, saved together: same results for new rows, whatever the notes say."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie import PCKMeans
from coterie.exceptions import InvalidData, InvalidModel, NotWritten
from coterie.tables import (
    Bundle,
    Choices,
    Recipe,
    Table,
    how_made,
    load_bundle,
    read_inputs,
    save_bundle,
)

PEOPLE = "name,height,town\nann,1.6,Ulm\nbob,1.9,Rom\ncid,1.8,Rom\ndora,1.5,Ulm\n"


@pytest.fixture
def inputs(folder):
    Path("people.csv").write_text(PEOPLE)
    Path("pairs.csv").write_text("a,b,kind\nbob,cid,must\n")
    return read_inputs("people.csv", "pairs.csv", Choices("name", scale=True))


@pytest.fixture
def bundle(inputs):
    model = PCKMeans(2, random_state=0).fit(inputs.X, constraints=inputs.constraints)
    return Bundle(model, inputs.recipe)


def test_new_rows_are_placed_as_the_old_ones_were(inputs, bundle):
    save_bundle(bundle, "m")
    found = load_bundle("m").predict(inputs.table)
    assert found.columns["cluster"].tolist() == bundle.model.labels_.tolist()
    assert found.notes == []
    new = Table.of("n", {"height": np.array([1.55]), "town": np.array(["Bonn"], dtype=object)})
    labels, notes = load_bundle("m").predict(new)
    assert labels["cluster"][0] == bundle.model.labels_[0]
    assert "1 values not seen in fitting" in notes[0]


def test_errors_in_new_rows_name_them_by_their_id(bundle):
    people = {"name": np.array(["p", "q"], dtype=object), "height": np.array([1.0, np.nan])}
    people["town"] = np.array(["Ulm", "Ulm"], dtype=object)
    with pytest.raises(InvalidData, match=r"'q' \(row 1\): no value in column 'height'"):
        bundle.predict(Table.of("n", people))


def test_only_a_bundle_is_replaced_and_only_if_told(bundle, folder):
    save_bundle(bundle, "m")
    with pytest.raises(NotWritten, match="overwrite=True"):
        save_bundle(bundle, "m")
    save_bundle(bundle, "m", overwrite=True)
    Path("mine").mkdir()
    Path("mine/precious").write_text("x")
    with pytest.raises(NotWritten, match="is not a saved model"):
        save_bundle(bundle, "mine", overwrite=True)
    with pytest.raises(InvalidModel, match="is not a model saved by"):
        load_bundle("mine")


def test_the_notes_need_no_package_metadata_and_take_any_parameter(bundle, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    strange = PCKMeans(2).set_params(init=np.array([[np.nan, np.inf]]), w=object())
    made = how_made(strange, seed=np.int64(3), path=Path("x"), notes=["a"])
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert (made["seed"], made["notes"]) == (3, ["a"])
    assert made["versions"]["coterie"] == coterie.__version__
    assert made["versions"]["python"] == sys.version.split()[0]
    save_bundle(Bundle(bundle.model, bundle.recipe, made), "m")
    assert load_bundle("m").made["parameters"]["init"] == "[[nan, inf]]"


def test_a_recipe_that_was_damaged_is_refused(bundle):
    save_bundle(bundle, "m")
    content = json.loads(Path("m/recipe.json").read_text())
    content["parts"][0]["kind"] = "spell"
    Path("m/recipe.json").write_text(json.dumps(content))
    with pytest.raises(InvalidModel, match="the recipe is damaged"):
        load_bundle("m")


def test_inputs_say_what_the_user_should_know(folder):
    Path("t.csv").write_text("x,y\n1,5\n2,5\n3,5\n")
    Path("none.csv").write_text("a,b,kind\n")
    inputs = read_inputs("t.csv", "none.csv")
    assert inputs.notes == ["the same in every row: y", "none.csv holds no pairs"]
    assert inputs.recipe == Recipe.learn(inputs.table)
    assert inputs.ids[1] == "1"
    Path("p.csv").write_text("a,b,kind\n0,1,must\n")
    assert read_inputs("t.csv", "p.csv", hard=True).constraints.is_hard.all()
    with pytest.raises(InvalidData, match="alike in every column"):
        read_inputs("t.csv", choices=Choices(features=("y",)))


def test_a_model_without_a_recipe_is_told_from_no_model_at_all(tmp_path):
    PCKMeans(2, random_state=0).fit([[0.0], [1.0], [5.0]]).save(tmp_path / "alone")
    with pytest.raises(InvalidModel, match=r"holds a model alone, .* coterie.load\(path\)"):
        load_bundle(tmp_path / "alone")
