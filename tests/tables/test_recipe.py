"""A recipe makes the same features again, also after a way through JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from coterie.exceptions import InvalidData
from coterie.tables.recipe import Choices, Recipe
from coterie.tables.table import Table


def objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def table(**columns):
    return Table.of(
        "t", {k: v if isinstance(v, np.ndarray) else objects(*v) for k, v in columns.items()}
    )


def again(recipe):
    return Recipe.from_json(json.loads(json.dumps(recipe.to_json())))


def test_numbers_scaled_and_categories_one_hot_by_hand():
    t = table(id="abcd", x=["1", "2", "3", "6"], town=["Ulm", "Rom", "Ulm", "Bern"])
    recipe = Recipe.learn(t, Choices(id_column="id", scale=True))
    X, notes = again(recipe).apply(t)
    x = np.array([1.0, 2, 3, 6])
    expected = np.column_stack([(x - 3) / np.sqrt(3.5), [0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0]])
    assert np.allclose(X, expected, rtol=1e-15, atol=0)
    assert recipe.feature_names == ["x", "town=Bern", "town=Rom", "town=Ulm"]
    assert recipe.columns == ["x", "town"]
    assert notes == []


def test_new_rows_are_measured_by_what_was_learned():
    recipe = Recipe.learn(
        table(x=["0", "", "4"], t=["u", "v", "v"]), Choices(scale=True, impute=True)
    )
    X, notes = again(recipe).apply(table(t=["w", "", "u"], x=["2", "6", "NA"], more="abc"))
    assert np.array_equal(X, [[0, 0, 0], [2, 0, 1], [0, 1, 0]])
    assert any("1 missing values filled by the mean" in note for note in notes)
    assert any("1 missing filled by 'v'" in note for note in notes)
    assert any("not seen in fitting" in note and "(w)" in note for note in notes)


def test_missing_values_at_predict_time_are_refused_unless_imputed_at_fit():
    recipe = Recipe.learn(table(x=["1", "2"]), Choices())
    with pytest.raises(InvalidData, match="row 1: no value in column 'x'"):
        recipe.apply(table(x=["1", "null"]))
    with pytest.raises(InvalidData, match="no column 'x'"):
        recipe.apply(table(y=["1", "2"]))
    with pytest.raises(InvalidData, match="'no' in column 'x' is not a number"):
        recipe.apply(table(x=["1", "no"]))


def test_words_are_what_scikit_learn_makes_of_them_and_are_sparse():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["red fish blue fish", "one fish", "red one two", "nothing like these"]
    t = table(text=texts, x=["1", "2", "3", "4"])
    recipe = Recipe.learn(t, Choices(features=["text"], columns={"text": "words"}))
    X, notes = again(recipe).apply(t)
    assert sparse.issparse(X)
    assert np.allclose(X.toarray(), TfidfVectorizer(min_df=2).fit_transform(texts).toarray())
    assert recipe.feature_names == ["text:fish", "text:one", "text:red"]
    assert notes == ["text: 1 rows hold none of the words"]
    both = Recipe.learn(t, Choices(columns={"text": "words"}, features=("x",)))
    Y, _ = again(both).apply(t)
    assert Y.format == "csr"
    assert np.allclose(Y.toarray()[:, 3], [1, 2, 3, 4])


def test_numbers_can_be_categories_and_columns_chosen():
    t = table(code=["1", "2", "1"], x=["1", "2", "4"], y=["5", "5", "6"])
    assert Recipe.learn(t, Choices(categorical=("code",))).feature_names == [
        "code=1", "code=2", "x", "y"
    ]  # fmt: skip
    assert Recipe.learn(t, Choices(features=("y", "x"))).feature_names == ["x", "y"]
    assert Recipe.learn(t, Choices(drop=("x",))).feature_names == ["code", "y"]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_arrays_are_scaled_and_stay_what_they_are(make):
    X = np.array([[1.0, 0], [3, 0], [5, 9]])
    t = Table("t", 3, {}, make(X))
    recipe = Recipe.learn(t, Choices(scale=True))
    scaled = again(recipe).apply(t).X
    assert sparse.issparse(scaled) == (make is sparse.csr_matrix)
    shift = 0 if sparse.issparse(scaled) else X.mean(axis=0)
    dense = scaled.toarray() if sparse.issparse(scaled) else scaled
    assert np.allclose(dense, (X - shift) / X.std(axis=0))
    assert recipe.feature_names == ["x0", "x1"]
    with pytest.raises(InvalidData, match="fitted to an array file of 2 columns"):
        recipe.apply(Table("t", 3, {}, np.ones((3, 5))))


def test_float32_stays_float32():
    t = Table.of("t", {"x": np.array([1, 2, 3], np.float32), "y": np.array([1, 5, 2], np.float32)})
    assert Recipe.learn(t, Choices()).apply(t).X.dtype == np.float32
    t = Table.of("t", {"x": np.array([1, 2, 3], np.float32), "y": np.array([1, 5, 2])})
    assert Recipe.learn(t, Choices()).apply(t).X.dtype == np.float64


def test_a_constant_column_is_noted_and_does_not_break_scaling():
    t = table(x=["1", "1", "1"], y=["1", "2", "3"])
    recipe = Recipe.learn(t, Choices(scale=True))
    X, _ = recipe.apply(t)
    assert np.array_equal(X[:, 0], np.zeros(3))
    assert recipe.constant(X) == recipe.constant(sparse.csr_matrix(X)) == ["x"]
