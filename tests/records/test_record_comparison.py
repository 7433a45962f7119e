"""Fields, levels and candidates."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from coterie.exceptions import CoterieWarning, InvalidData, InvalidParameter
from coterie.records import neighbors, read_fields
from coterie.records.candidates import find_candidates, most_alike, pairs_in_groups
from coterie.records.comparison import LEVELS, Comparison
from coterie.records.neighbors import nearest_texts
from coterie.records.texts import grams, tidy, weighed
from reference.records import people


def level(kind, a, b, *others):
    values = np.array([a, b, *others], dtype=object)
    fields = read_fields({"x": values}, {"x": kind})
    return LEVELS[Comparison(fields).levels(np.array([[0, 1]]))[0, 0]]


@pytest.mark.parametrize(
    ("kind", "a", "b", "found"),
    [
        ("text", "Müller", "mueller", "very alike"),
        ("text", "O'Neill, Bob", "o neill bob", "the same, and rare"),
        ("text", "jonathan", "jonahtan", "very alike"),
        ("text", "smith", "qwxyz", "differs"),
        ("text", "", None, "missing in both"),
        ("text", "ann", float("nan"), "missing in one"),
        ("date", "1980-02-03", "19800203", "the same, and rare"),
        ("date", "1980-02-03", "1980-03-02", "very alike"),
        ("date", "03/02/1980", "1980-02-03", "the same, and rare"),
        ("date", "1980-02-03", "1957-11-29", "a little alike"),
        ("number", "100", "100.5", "nearly the same"),
        ("number", "$1,000.00", "1000", "the same, and rare"),
        ("number", "10", "1000", "differs"),
        ("category", "red", "rad", "differs"),
        ("set", "a; b; c", "c|b|a", "the same, and rare"),
        ("set", "a, b, c", "a, b, d", "somewhat alike"),
    ],
)
def test_levels_of_two_values(kind, a, b, found):
    assert level(kind, a, b) == found


def test_equality_of_a_common_value_is_a_level_of_its_own():
    assert level("text", "nsw", "nsw", *["nsw"] * 60) == "the same, as often"
    assert level("text", "nsw", "nsw", *["vic"] * 60) == "the same, and rare"


def test_numbers_among_words_tell_neighbours_from_slips():
    streets = [f"{number} long street" for number in range(10, 50)]
    near = level("text", "12 long street", "14 long street", *streets)
    slip = level("text", "12 long street", "12 logn street", *streets)
    assert LEVELS.index(near) <= LEVELS.index("half alike") < LEVELS.index(slip)
    # The codes of models are a field of their own.
    models = [f"kamera dsc w{number}" for number in range(100, 140)]
    titles = ["dscw120 kamera", "kamera dsc w120 black", "kamera dsc w130 black", *models]
    comparison = Comparison(read_fields({"x": np.array(titles, dtype=object)}))
    same, other = comparison.levels(np.array([[0, 1], [0, 2]]))[:, 1].tolist()
    assert LEVELS[same].startswith("the same")
    assert LEVELS[other] == "differs"
    # Phones are numbers and no words: one digit is a slip.
    phones = [f"555 {number}" for number in range(7000, 7040)]
    assert level("text", "555 7012", "555 7013", *phones) == "very alike"


def test_rare_members_count_for_more_than_common_ones():
    sets = [f"common; own {row}" for row in range(30)]
    by_rare = level("set", "rare; a", "rare; b", *sets)
    by_common = level("set", "common; a", "common; b", *sets)
    assert LEVELS.index(by_rare) > LEVELS.index(by_common)


def test_vectors_are_compared_by_distance():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [50.0, 50.0], [50.0, 51.0]])
    levels = Comparison(read_fields(X)).levels(np.array([[0, 1], [0, 2], [0, 3]]))[:, 0]
    assert [LEVELS[at] for at in levels] == ["the same, and rare", "half alike", "differs"]


def test_kinds_are_found_by_the_values():
    columns = {
        "postcode": np.array([2000, 3000]),
        "price": np.array([1.5, 2.25]),
        "born": np.array(["1980-01-02", "19810203"]),
        "name": np.array(["ann", "bob"]),
        "cost": np.array(["$ 1.50", "2.25"]),
        "id": np.array(["7041054", "2873125"]),
        "tags": np.array(["red; tall", "blue"]),
        "written": np.array(["Lee, Ann", "Ray, Bob"]),
    }
    found = {field.name: field.kind for field in read_fields(columns)}
    assert found == {
        "postcode": "text",
        "price": "number",
        "born": "date",
        "name": "text",
        "cost": "number",
        "id": "text",
        "tags": "set",
        "written": "text",
    }


def test_what_cannot_be_read_is_named():
    with pytest.raises(InvalidData, match="row 1: 'much' in the field 'price' is not a number"):
        read_fields({"price": np.array(["1", "much"], dtype=object)}, {"price": "number"})
    with pytest.raises(InvalidParameter, match="no column 'nmae'; the records have name"):
        read_fields({"name": np.array(["a"])}, {"nmae": "text"})


def test_odd_values_of_a_field_that_was_found_to_hold_numbers_are_missing():
    """Nobody said that it holds numbers, so one odd value must not end the fit."""
    prices = np.array([*(f"{row}.50" for row in range(40)), "-", "on request"], dtype=object)
    with pytest.warns(CoterieWarning, match=r"1 of its values are none \('on request' in row 41\)"):
        (price,) = read_fields({"price": prices})
    assert price.kind == "number"
    assert np.flatnonzero(price.missing).tolist() == [40, 41]
    with pytest.raises(InvalidData, match="row 41: 'on request'"):
        read_fields({"price": prices}, {"price": "number"})


def test_slices_of_an_array_are_fields():
    X = np.arange(12.0).reshape(3, 4)
    found = read_fields(X, {"place": slice(0, 2), "price": (2, "number")})
    assert [(f.name, f.kind, f.values.shape) for f in found] == [
        ("place", "vector", (3, 2)),
        ("price", "number", (3,)),
    ]


# -- n-grams -------------------------------------------------------------------------------------
def test_cosines_of_ngrams_by_hand():
    texts = ["ann lee", "anne lee", "bob"]
    sets = [{f" {text} "[at : at + 3] for at in range(len(text))} for text in texts]
    made, n_with = weighed(grams(texts, (3,)))
    assert made.shape[1] == len(set.union(*sets)) == n_with.size
    product = (made @ made.T).toarray()
    weight = {g: np.log1p(3 / sum(g in s for s in sets)) for g in set.union(*sets)}

    def length(grams):
        return np.sqrt(sum(weight[g] ** 2 for g in grams))

    common = sum(weight[g] ** 2 for g in sets[0] & sets[1])
    assert product[0, 1] == pytest.approx(common / length(sets[0]) / length(sets[1]))
    assert product[0, 2] == 0
    assert product[2, 2] == pytest.approx(1)


def test_tidy_keeps_letters_of_every_alphabet():
    assert tidy("Ærø–Straße 3") == "ærø strasse 3"
    assert tidy("Иван Иванов") == "иван иванов"


# -- neighbours ----------------------------------------------------------------------------------
def naive_neighbors(texts, k, n_known):
    """Each text's k best by cosines of weighed counts of 3-grams, all pairs of texts at hand."""
    counts = [Counter(f" {t} "[at : at + 3] for at in range(len(t))) for t in texts]
    known = counts if n_known is None else counts[:n_known]
    n_with = Counter(gram for each in known for gram in each)
    rows = [
        {g: np.sqrt(c) * np.log1p(len(known) / max(n_with[g], 1)) for g, c in each.items()}
        for each in counts
    ]
    lengths = [np.sqrt(sum(value**2 for value in row.values())) for row in rows]
    found = []
    for i in range(0 if n_known is None else n_known, len(texts)):
        cosine = {
            j: sum(v * rows[j].get(g, 0) for g, v in rows[i].items()) / lengths[i] / lengths[j]
            for j in range(len(known))
            if j != i
        }
        best = sorted((-c, j) for j, c in cosine.items() if c > 0)[:k]
        found.append([-c for c, _ in best])
    return found, lengths, rows


@pytest.mark.parametrize("n_known", [None, 60])
def test_neighbors_are_those_of_all_cosines(n_known, monkeypatch):
    monkeypatch.setattr(neighbors, "_BUCKETS", (1 << 24, 1 << 24))  # no two n-grams share a value
    monkeypatch.setattr(neighbors, "_WORK", 10**6)  # and none is too common
    columns, _ = people(40, seed=3)
    texts = list(dict.fromkeys(" ".join(parts) for parts in zip(*columns.values(), strict=True)))
    texts = [tidy(text).replace("gu", "go") for text in texts]  # " la" and "gu " share a value
    different = {f" {text} "[at : at + 3] for text in texts for at in range(len(text))}
    assert np.unique(grams(texts, (3,), 1 << 24).indices).size == len(different)
    k = 4
    pairs = nearest_texts(texts, k, n_known=n_known)
    expected, lengths, rows = naive_neighbors(texts, k, n_known)
    first = 0 if n_known is None else n_known
    for i, best in enumerate(expected, start=first):
        mine = pairs[pairs[:, 0] == i, 1]
        found = [
            sum(v * rows[j].get(g, 0) for g, v in rows[i].items()) / lengths[i] / lengths[j]
            for j in mine
        ]
        assert found == pytest.approx(best, abs=1e-5)  # ties aside, the same neighbours


def test_neighbors_do_not_depend_on_the_stretch(monkeypatch):
    monkeypatch.setattr(neighbors, "_MANY", 100)  # 5-grams, too
    columns, _ = people(200)
    texts = [tidy(" ".join(parts)) for parts in zip(*columns.values(), strict=True)]
    whole = nearest_texts(texts, 5)
    for stretch in (1, 7, 64, 1000):
        assert np.array_equal(nearest_texts(texts, 5, stretch=stretch), whole)


def test_ngrams_that_are_too_common_are_not_looked_up(monkeypatch):
    texts = [f"street {row:05d}" for row in range(0, 60_000, 100)]
    n_with = np.array([0, 1, 2, 2, 3, 600, 600])
    assert neighbors._most_texts(n_with, 1 + 4 + 4 + 9) == 599
    assert neighbors._most_texts(n_with, 1 + 4 + 4 + 8) == 2
    monkeypatch.setattr(neighbors, "_WORK", 10)
    calls = []
    monkeypatch.setattr(
        neighbors._kernels,
        "nearest",
        lambda *given: calls.append(given) or np.full((given[0].size - 1, given[-1]), -1),
    )
    nearest_texts(texts, 2)
    start = calls[0][3]
    assert 0 < np.square(np.diff(start)).sum() <= 10 * 2 * len(texts)


# -- candidates ----------------------------------------------------------------------------------
def test_candidates_contain_the_true_pairs_and_are_few():
    columns, truth = people(400)
    pairs = find_candidates(read_fields(columns))
    true = np.flatnonzero(np.triu(truth[:, None] == truth, 1).ravel())
    found = np.isin(true, pairs @ [truth.size, 1])
    assert found.mean() > 0.995
    assert len(pairs) < 25 * truth.size
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_all_pairs_of_few_texts_are_found_in_order_of_likeness():
    texts = np.array(["anna lee", "anna leo", "anna ray", "zzzz"], dtype=object)
    pairs = find_candidates(read_fields({"name": texts}))
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_records_of_one_source_are_no_candidates():
    columns, truth = people(100)
    source = np.arange(truth.size) % 2
    pairs = find_candidates(read_fields(columns), exclusive=source)
    assert (source[pairs[:, 0]] != source[pairs[:, 1]]).all()


def test_new_records_are_compared_with_known_ones():
    columns, _truth = people(100)
    pairs = find_candidates(read_fields(columns), n_known=150)
    assert (pairs[:, 0] < 150).all()
    assert (pairs[:, 1] >= 150).all()


def test_groups_up_to_a_size_are_all_pairs():
    group = np.array([0, 1, 0, -1, 1, 0, -1, 2, 2, 2, 2])
    found = {tuple(sorted(pair)) for pair in pairs_in_groups(group, 3).tolist()}
    assert found == {(0, 2), (0, 5), (2, 5), (1, 4)}


def test_most_alike_are_each_others_nearest_text_and_of_no_group():
    columns, _ = people(150, seed=2)

    def whole_of(fields):
        return [" ".join(filter(None, p)) for p in zip(*(f.values for f in fields), strict=True)]

    once = np.unique(whole_of(read_fields(columns)), return_index=True)[1]  # copies: otherwise
    fields = read_fields({name: np.asarray(values)[once] for name, values in columns.items()})
    whole = whole_of(fields)
    assert len(set(whole)) == len(whole)
    none = np.full(once.size, -1)
    nearest = dict(nearest_texts(whole, 1).tolist())
    wanted = {(i, j) for i, j in nearest.items() if i < j and nearest.get(j) == i}
    found = most_alike(fields, none)
    assert {tuple(pair) for pair in found.tolist()} == wanted
    assert len(wanted) > 30
    candidates = {tuple(pair) for pair in find_candidates(fields).tolist()}
    assert wanted <= candidates
    together = none.copy()
    together[found[0]] = 7
    assert found[0].tolist() not in most_alike(fields, together).tolist()
    vectors = read_fields({"x": np.random.default_rng(0).normal(size=(9, 3))})
    assert most_alike(vectors, none[:9]).shape == (0, 2)
