"""Texts by their topics: what scikit-learn's TF-IDF and SVD make of them, kept as plain arrays."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from coterie import PCKMeans
from coterie.exceptions import InvalidData, InvalidModel
from coterie.tables import Bundle, Choices, Recipe, Table, load_bundle, save_bundle, text_sample
from coterie.tables.stop_words import LANGUAGES, language_of, stop_words
from coterie.tables.text_sample import TextSample

TOPICS = 4


def documents(n=400, seed=0):
    """Texts of four topics, and the topics. Most words are those of their writers' manners."""
    rng = np.random.default_rng(seed)
    manners = np.array(sorted(ENGLISH_STOP_WORDS))[:240].reshape(-1, 8).T
    shared = [f"shared{j}" for j in range(300)]
    own = [[f"topic{k}word{j}" for j in range(80)] for k in range(TOPICS)]
    classes = rng.integers(TOPICS, size=n)
    weights = 1 / np.arange(1, 81)
    texts = []
    for k in classes:
        words = [
            *rng.choice(manners[rng.integers(8)], 60),
            *rng.choice(shared, 15),
            *rng.choice(own[k], 8, p=weights / weights.sum()),
        ]
        texts.append(" ".join(rng.permutation(words)))
    return texts, classes


def table(**columns):
    made = {}
    for name, values in columns.items():
        made[name] = np.empty(len(values), dtype=object)
        made[name][:] = values
    return Table.of("t", made)


def test_topics_are_those_of_scikit_learn():
    texts, _ = documents()
    recipe = Recipe.learn(table(body=texts), Choices(text="body"))
    X = recipe.apply(table(body=texts)).X
    vectorizer = TfidfVectorizer(
        stop_words=sorted(ENGLISH_STOP_WORDS),
        sublinear_tf=True,
        min_df=2,
        max_df=0.5,
        max_features=20_000,
    )
    svd = TruncatedSVD(100, random_state=0)
    expected = normalize(svd.fit_transform(vectorizer.fit_transform(texts)))
    assert X.shape == (400, 100)
    np.testing.assert_allclose(X, expected, atol=1e-5)  # components are kept in float32
    assert recipe.parts[0].language == "english"
    assert recipe.feature_names[:2] == ["body topic 1", "body topic 2"]


def test_topics_find_what_words_alone_do_not():
    """The case of the newsgroups: function words drown what texts are about."""
    texts, classes = documents()
    rows = table(body=texts)
    topics = Recipe.learn(rows, Choices(text="body")).apply(rows).X
    choices = Choices(features=["body"], columns={"body": "words"})
    words = Recipe.learn(rows, choices).apply(rows).X
    by_topics, by_words = (
        adjusted_rand_score(classes, KMeans(TOPICS, n_init=3, random_state=0).fit_predict(X))
        for X in (topics, words)
    )
    assert by_topics > 0.9 > by_words + 0.3


def test_a_saved_model_keeps_its_topics_as_arrays(tmp_path):
    texts, _ = documents()
    rows = table(body=texts)
    recipe = Recipe.learn(rows, Choices(text="body"))
    X = recipe.apply(rows).X
    model = PCKMeans(TOPICS, random_state=0).fit(X)
    folder = save_bundle(Bundle(model, recipe), tmp_path / "model")
    again = load_bundle(folder)
    assert np.array_equal(again.recipe.apply(rows).X, X)
    assert np.array_equal(again.predict(rows).columns["cluster"], model.labels_)
    assert (folder / "recipe" / "0-components.npy").exists()
    assert "components" in (folder / "recipe.json").read_text()
    assert (folder / "recipe.json").stat().st_size < 100_000
    plain = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert np.allclose(plain.apply(rows).X, X)
    (folder / "recipe" / "0-components.npy").unlink()
    with pytest.raises(InvalidModel, match="recipe is damaged"):
        load_bundle(folder)


def test_short_texts_are_told_apart_by_their_letters():
    names = ["Meyer Hans", "Meier Hans", "Maier Hans", "Okafor Chidi", "Okafor Chidy", "Okaffor C"]
    recipe = Recipe.learn(table(name=names), Choices(text="name"))
    assert recipe.parts[0].analyzer == "char_wb"
    X = recipe.apply(table(name=names)).X
    likeness = X @ X.T
    assert likeness[:3, :3].min() > likeness[:3, 3:].max()


def test_a_recipe_of_an_older_version_is_read():
    part = {"kind": "text", "column": "t", "words": ["fish", "red"], "idf": [1.0, 1.5]}
    number = {"kind": "number", "column": "x", "center": 1.0, "spread": 2.0, "fill": None}
    recipe = Recipe.from_json({"id_column": None, "parts": [part, number]})
    X = recipe.apply(table(t=["red fish"], x=["5"])).X.toarray()
    assert np.allclose(X, [[1 / np.sqrt(3.25), 1.5 / np.sqrt(3.25), 2.0]])


def test_languages():
    spoken = {
        "english": "the house that we have seen is not on the hill",
        "german": "das Haus, das wir gesehen haben, ist nicht auf dem Berg",
        "french": "la maison que nous avons vue n'est pas sur la colline",
        "spanish": "la casa que hemos visto no está en la colina con los otros",
        "italian": "la casa che abbiamo visto non è sulla collina con gli altri",
        "portuguese": "a casa que vimos não está na colina com os outros",
        "dutch": "het huis dat we hebben gezien staat niet op de heuvel",
    }
    assert {language_of([text]) for text in spoken.values()} == set(LANGUAGES)
    assert all(language_of([text]) == language for language, text in spoken.items())
    assert all("und" not in stop_words(name) or name == "german" for name in LANGUAGES)


def test_without_any_word_that_two_texts_share():
    with pytest.raises(InvalidData, match="no word of column 'body' occurs in two rows"):
        Recipe.learn(table(body=["one and only text here", "quite another thing there"]),
                     Choices(text="body"))  # fmt: skip
    with pytest.raises(InvalidData, match="column 'body' holds no value"):
        Recipe.learn(table(body=["", ""]), Choices(text="body"))


def cut(texts, edges):
    """Tables of the texts between the edges, one below the other."""
    return [table(body=texts[lo:hi]) for lo, hi in pairwise(edges)]


def test_topics_of_stretches_are_those_of_the_whole():
    texts, _ = documents()
    texts[5] = texts[390] = ""
    rows = table(body=texts)
    for choices in (Choices(text="body"), Choices()):  # told that it is text, and found out
        whole = Recipe.learn(rows, choices)
        parts = Recipe.learn_from(cut(texts, [0, 3, 200, 200, 400]), choices)
        assert np.array_equal(whole.apply(rows).X, parts.apply(rows).X)


@pytest.mark.parametrize(("texts", "letters"), [(150, 1 << 28), (50_000, 60_000)])
def test_a_sample_of_many_texts_teaches_what_all_of_them_do(monkeypatch, texts, letters):
    monkeypatch.setattr(text_sample, "_MOST_TEXTS", texts)
    monkeypatch.setattr(text_sample, "_MOST_LETTERS", letters)
    many, classes = documents(1200)
    learned = Recipe.look_at(cut(many, [0, 500, 501, 1200]), Choices(text="body"))
    again = Recipe.look_at_whole(table(body=many), Choices(text="body"))
    rows = table(body=many)
    X = learned.recipe.apply(rows).X
    assert np.array_equal(X, again.recipe.apply(rows).X)
    assert learned.notes == again.notes
    assert "body: topics learned from " in learned.notes[0]
    assert "of 1200 texts, drawn by chance" in learned.notes[0]
    found = KMeans(TOPICS, n_init=3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(classes, found) > 0.9


def test_every_text_has_the_same_chance_to_be_in_the_sample(monkeypatch):
    monkeypatch.setattr(text_sample, "_MOST_TEXTS", 200)
    sample = TextSample()
    for start in range(0, 2000, 70):
        rows = range(start, min(start + 70, 2000))
        sample.add(start, [None if row % 2 else f"{row}" for row in rows])
    kept = np.array([int(text) for text in sample.texts()])
    assert (sample.n_seen, kept.size, sample.is_sample) == (1000, 200, True)
    assert np.array_equal(kept, np.sort(kept))
    assert not (kept % 2).any()
    quarters = np.bincount(kept // 500, minlength=4)
    assert np.all(np.abs(quarters - 50) < 4 * np.sqrt(50 * 0.75))


def test_a_cell_that_says_that_there_is_no_value_is_no_text():
    texts, _ = documents(60)
    texts[3:9] = ["NA"] * 6
    rows = table(body=texts)
    recipe = Recipe.learn(rows, Choices(text="body"))
    assert "na" not in recipe.parts[0].words
    assert np.flatnonzero(~recipe.with_words(recipe.apply(rows).X)).tolist() == [*range(3, 9)]


def test_words_of_most_texts_count_where_texts_have_no_others():
    rng = np.random.default_rng(0)
    boats, bread = ["ship", "sail", "tide", "rope", "deck"], ["oven", "dough", "crust", "flour"]
    texts = [" ".join(rng.choice(boats if t < 40 else bread, 20)) for t in range(60)]
    rows = table(body=texts)
    recipe = Recipe.learn(rows, Choices(text="body"))
    assert set(recipe.parts[0].words) == {*boats, *bread}
    assert recipe.with_words(recipe.apply(rows).X).all()
