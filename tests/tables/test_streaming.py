"""Tables in files that do not fit: the recipe and the features of the same table in memory."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from coterie import PCKMeans
from coterie.exceptions import InvalidData
from coterie.tables import Choices, Recipe, open_table, read_table

N = 500


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    height = rng.normal(1.7, 0.1, N)
    height[[3, 200]] = np.nan
    town = rng.choice(["Ulm", "Rom", "Bern"], N).astype(object)
    town[[10, 400]] = None
    words = np.array(["red", "green", "blue", "old", "new"])
    notes = [" ".join(rng.choice(words, 3)) for _ in range(N - 1)] + ["unique"]
    table = pa.table(
        {
            "key": [f"p{row}" for row in range(N)],
            "height": height,
            "age": rng.integers(1, 90, N),
            "town": town,
            "note": notes,
        }
    )
    pq.write_table(table, tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for number, (start, stop) in enumerate([(0, 120), (120, 120), (120, N)]):
        part = table.slice(start, stop - start)
        pq.write_table(part, tmp_path / "parts" / f"{number}.parquet", row_group_size=77)
    return tmp_path


CHOICES = {
    "numbers and categories": Choices(id_column="key", drop=["note"], impute=True),
    "scaled": Choices(id_column="key", drop=["note"], impute=True, scale=True),
    "one asked for": Choices(features=["age"], scale=True),
    "numbers as categories": Choices(features=["town"], categorical=["age"], impute=True),
    "words": Choices(features=["note"], columns={"note": "words"}),
    "words and numbers": Choices(features=["age"], columns={"note": "words"}, scale=True),
    "topics": Choices(text="note"),
    "topics and numbers": Choices(features=["age"], text="note", scale=True),
}


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


@pytest.mark.parametrize("name", CHOICES)
def test_parts_give_the_recipe_and_the_features_of_the_whole(people, name):
    whole = read_table(people / "whole.parquet")
    expected = Recipe.learn(whole, CHOICES[name])
    table = open_table(people / "parts")
    recipe = table.learn(CHOICES[name])
    assert recipe.feature_names == expected.feature_names
    rows = table.rows(recipe)
    assert rows.shape == (N, len(expected.feature_names))
    X = dense(expected.apply(whole).X)
    np.testing.assert_allclose(dense(rows.read(0, N)), X, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dense(rows.read(70, 300)), X[70:300], rtol=1e-12, atol=1e-12)
    at = np.array([499, 0, 119, 120])
    np.testing.assert_allclose(dense(rows.take(at)), X[at], rtol=1e-12, atol=1e-12)


def test_words_are_weighted_as_scikit_learn_does(people):
    whole = read_table(people / "whole.parquet")
    recipe = Recipe.learn(whole, Choices(features=["note"], columns={"note": "words"}))
    texts = whole.column("note").texts()
    vectorizer = TfidfVectorizer(min_df=2)
    expected = vectorizer.fit_transform(texts)
    assert recipe.parts[0].words == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_allclose(recipe.apply(whole).X.toarray(), expected.toarray(), rtol=1e-12)


def test_a_model_is_fitted_to_what_a_recipe_makes(people):
    table = open_table(people / "parts")
    rows = table.rows(table.learn(CHOICES["scaled"]))
    model = PCKMeans(3, random_state=0).fit(rows)
    assert list(model.feature_names_in_) == rows.names
    np.testing.assert_array_equal(
        model.labels_, PCKMeans(3, random_state=0).fit(rows.read(0, N)).labels_
    )


def test_features_are_kept_no_longer_than_their_rows(people):
    table = open_table(people / "parts")
    rows = table.rows(table.learn(CHOICES["scaled"]))
    made = weakref.ref(rows.read(0, 5).base)
    assert made() is rows.read(5, 9).base
    del rows
    gc.collect()
    assert made() is None


def test_ids_of_the_table(people):
    ids = open_table(people / "parts").ids("key")
    assert ids.find(["p0", "p121"]) == {"p0": 0, "p121": 121}


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        (Choices(features=["height"]), r"0\.parquet, row group 0, row 3: no value in column"),
        (Choices(features=["heights"]), "has no column 'heights'"),
        (Choices(features=["key"]), "holds 500 different texts"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(people, choices, words):
    table = open_table(people / "parts")
    with pytest.raises(InvalidData, match=words):
        table.rows(table.learn(choices))


def test_numbers_first_and_text_later_is_a_slip(tmp_path):
    column = ["1", "2", "3", "x", "y", "z", "w"]
    pq.write_table(pa.table({"a": column}), tmp_path / "a.parquet", row_group_size=3)
    with pytest.raises(InvalidData, match=r"row group 1, row 0: 'x' in column 'a' is not a number"):
        open_table(tmp_path / "a.parquet").learn()
    recipe = open_table(tmp_path / "a.parquet").learn(Choices(categorical=["a"]))
    assert len(recipe.feature_names) == 7


def test_parts_with_other_columns_are_refused(tmp_path):
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [1.0]}), tmp_path / "2.parquet")
    with pytest.raises(InvalidData, match=r"differ in the columns \['a', 'b'\]"):
        open_table(tmp_path)
