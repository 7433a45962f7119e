"""Numbers among words: when they are codes, and that these are compared on their own."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import load
from coterie.records import Dossier, read_fields
from coterie.records.codes import numbers_of, without_numbers
from coterie.records.comparison import LEVELS, Comparison

GOODS = ["camera", "printer", "phone", "speaker", "oven", "washer", "fridge", "lamp"]


def shops(n=80, seed=0):
    """Things of a line differ in the code alone; the second shop has it elsewhere, and in signs."""
    rng = np.random.default_rng(seed)
    titles, about, truth = [], [], []
    for thing in range(n):
        goods, maker = GOODS[thing % 8], f"maker{'abcd'[thing % 4]}x"
        code = 1000 + 7 * thing
        extra = rng.permutation(["compact", "wireless", "black", "white", "portable"])
        titles += [f"{maker} {goods} {extra[0]} DX{code}", f"{maker} {goods} {extra[1]}"]
        about += [f"{extra[2]}, 12 volts", f"model DX-{code}, {extra[3]}, 12 volts"]
        truth += [thing, thing]
    columns = {"title": np.array(titles, object), "about": np.array(about, object)}
    return columns, np.array(truth)


def found(columns):
    return {field.name: field.coded for field in read_fields(columns)}


def test_codes_are_told_from_house_numbers_and_sizes():
    rows = np.arange(300)
    columns = {
        "title": np.array([f"kamera dsc w{1000 + row}" for row in rows], object),
        "street": np.array([f"{row % 20} long street" for row in rows], object),
        "address": np.array([f"{row + 1000}b 3rd street" for row in rows], object),
        "size": np.array([f"{row % 9} litres" for row in rows], object),
        "phone": np.array([f"555 {row + 7000}" for row in rows], object),
        "name": np.array([f"bob {'abc'[row % 3]}" for row in rows], object),
        "born": np.array([f"1980-01-{row % 28 + 1:02d}" for row in rows], object),
    }
    assert [name for name, coded in found(columns).items() if coded] == ["title"]
    few = {"title": np.where(rows % 9 == 0, columns["title"], "kamera")}
    assert found(few) == {"title": False}  # one in nine holds a number


def test_words_and_codes_are_two_things_that_agree_or_not():
    columns, truth = shops()
    fields = read_fields(columns)
    comparison = Comparison(fields)
    assert comparison.names == ["title", "about", "numbers in title, about"]
    same = np.flatnonzero(truth[1:] == truth[:-1])
    levels = comparison.levels(np.column_stack([same, same + 1]))
    # The code stands in the title of one and in the description of the other, beside the volts.
    assert (levels[:, 2] >= LEVELS.index("nearly the same")).all()
    line = comparison.levels(np.array([[0, 2 * 8]]))[0]  # the same goods by the same maker
    assert line[0] > LEVELS.index("half alike")
    assert LEVELS[line[2]] == "differs"


def test_the_numbers_in_common_are_weighed_as_in_a_naive_count():
    columns, _ = shops()
    texts = [" ".join(row) for row in zip(*(f.values for f in read_fields(columns)), strict=True)]
    sets = [set(numbers_of(text)) for text in texts]
    different = sorted({";".join(sorted(numbers)) for numbers in sets})
    weight = {
        number: np.log1p(len(different) / sum(number in text.split(";") for text in different)) ** 3
        for number in set().union(*sets)
    }
    levels = Comparison(read_fields(columns)).levels(
        pairs := np.column_stack(np.triu_indices(40, 1))
    )
    edges = np.arange(1, 10) / 10
    for (a, b), level in zip(pairs.tolist(), levels[:, 2].tolist(), strict=True):
        if sets[a] == sets[b]:
            assert LEVELS[level].startswith("the same")
            continue
        common, every = (
            sum(weight[x] for x in some) for some in (sets[a] & sets[b], sets[a] | sets[b])
        )
        assert level == 2 + np.digitize(common / every, edges)


def test_things_of_one_line_are_told_apart():
    columns, truth = shops()
    labels = Dossier().fit(columns).labels_
    i, j = np.triu_indices(truth.size, 1)
    joined, same = labels[i] == labels[j], truth[i] == truth[j]
    assert 2 * (joined & same).sum() / (joined.sum() + same.sum()) > 0.95


def test_the_explanation_names_the_numbers():
    columns, _ = shops()
    model = Dossier().fit(columns)
    why = model.explain(0, 1)
    assert why.names == ("title", "about", "numbers in title, about")
    assert why.terms[2] == max(why.terms)
    assert "numbers in title, about" in str(why)
    assert why.terms.sum() + why.start == pytest.approx(why.log_odds)


def test_new_records_are_compared_as_the_fitted_ones_were(tmp_path):
    columns, _ = shops()
    old = {name: values[:-2] for name, values in columns.items()}
    new = {name: values[-2:] for name, values in columns.items()}
    model = Dossier().fit(old)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    plain = {"title": np.array(["a lamp"], object), "about": np.array(["no number"], object)}
    assert again.predict(plain).tolist() == [-1]  # of these alone nobody would expect codes
    first, second = again.extend(new).tolist()
    assert first == second == model.n_clusters_
    again.extend(plain)
    assert [field.coded for field in again.fields_] == [True, True]
    assert again.pair_proba([[0, 1], [0, 16]]).tolist() == pytest.approx(
        model.pair_proba([[0, 1], [0, 16]]).tolist(), abs=0.05
    )


def test_words_with_digits_are_left_out_of_the_words():
    values = np.array(["kamera dsc w120 12x", "12", "", "a1b2 lamp"], object)
    assert without_numbers(values).tolist() == ["kamera dsc", "", "", "lamp"]
