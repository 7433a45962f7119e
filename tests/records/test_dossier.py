"""What `Dossier` promises: records of the same person together, with few answers or none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coterie import Constraints, load
from coterie.data import use_threads
from coterie.exceptions import CoterieWarning, InfeasibleConstraints, InvalidData, InvalidParameter
from coterie.progress import watching
from coterie.records import Dossier, PairExplanation
from reference.records import pairwise, people


@pytest.fixture(scope="module")
def easy():
    return people(300)


@pytest.fixture(scope="module")
def fitted(easy):
    return Dossier().fit(easy[0])


def answers(pairs, truth, wrong=0.0, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.where(truth[pairs[:, 0]] == truth[pairs[:, 1]], 1, -1)
    kind = np.where(rng.random(len(kind)) < wrong, -kind, kind)
    return Constraints.from_arrays(truth.size, pairs, kind)


# -- without answers -----------------------------------------------------------------------------
def test_easy_records_need_no_answers(easy, fitted):
    assert pairwise(fitted.labels_, easy[1])[2] > 0.98
    assert abs(fitted.n_clusters_ - 300) <= 6


def test_households_are_not_merged():
    # Three people share surname, street and town; two classes of pairs would merge them.
    columns, truth = people(450, seed=1, households=0.8)
    del columns["phone"]
    precision, recall, _ = pairwise(Dossier().fit(columns).labels_, truth)
    assert precision > 0.9
    assert recall > 0.75


def test_precision_and_recall_are_estimated(easy, fitted):
    precision, recall, _ = pairwise(fitted.labels_, easy[1])
    assert fitted.precision_ == pytest.approx(precision, abs=0.03)
    assert fitted.recall_ == pytest.approx(recall, abs=0.05)


def test_the_threshold_trades_precision_for_recall(easy):
    columns, _ = easy
    joined = [
        (np.bincount(Dossier(threshold=t).fit(columns).labels_) ** 2).sum() for t in (0.05, 0.98)
    ]
    assert joined[0] > joined[1]


def test_the_threshold_that_was_used_is_told(easy, fitted):
    assert fitted.threshold_ == 0.5
    assert Dossier(threshold=0.9).fit(easy[0]).threshold_ == 0.9


def test_probabilities_order_pairs_and_are_symmetric(easy, fitted):
    _, truth = easy
    same = fitted.pairs_[truth[fitted.pairs_[:, 0]] == truth[fitted.pairs_[:, 1]]]
    other = fitted.pairs_[truth[fitted.pairs_[:, 0]] != truth[fitted.pairs_[:, 1]]]
    assert np.median(fitted.pair_proba(same)) > 0.95
    assert np.median(fitted.pair_proba(other)) < 0.01
    np.testing.assert_array_equal(fitted.pair_proba(same), fitted.pair_proba(same[:, ::-1]))
    assert fitted.pair_proba([(3, 3)]).tolist() == [1.0]


def test_an_explanation_sums_to_the_log_odds(fitted):
    i, j = fitted.pairs_[fitted.log_odds_.argmax()]
    found = fitted.explain(i, j)
    assert found.start + found.terms.sum() + found.answers == pytest.approx(found.log_odds)
    assert found.probability == pytest.approx(fitted.pair_proba([(i, j)])[0])
    assert "born the same, and rare" in str(found)
    assert "% same" in str(found)
    assert found.terms[found.names.index("born")] > 0


def test_an_explanation_is_in_words_that_anybody_knows():
    terms = np.log([60.0, 2.5, 1 / 4, 1.01])
    names, findings = ("phone", "name", "town", "born"), ("the same", "alike", "differs", "missing")
    found = PairExplanation(names, findings, terms, -np.log(3600.0), 0.0, 0.0)
    assert found.in_words() == (
        "phone the same: 60 times likelier the same; town differs: 4 times likelier different; "
        "name alike: 2.5 times likelier the same; of little weight: born missing; before "
        "looking: 3,600 times likelier different"
    )
    heard = found._replace(terms=np.full(4, 20.0), answers=-2.0, start=0.0).in_words()
    assert "phone the same: over a million times likelier the same" in heard
    assert "what was answered: 7 times likelier different" in heard
    assert "before looking: says little" in heard


def test_an_explanation_is_drawn_as_a_waterfall(fitted, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from coterie.plot import plot_explanation

    found = fitted.explain(*fitted.pairs_[fitted.log_odds_.argmax()])
    ax = plot_explanation(found)
    last = ax.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(found.log_odds)
    assert len(ax.patches) == 1 + len(found.names)
    with pytest.raises(InvalidParameter, match=r"Dossier\.explain"):
        plot_explanation(fitted)


# -- with answers --------------------------------------------------------------------------------
def test_answers_help_where_the_classes_are_not_enough():
    columns, truth = people(450, seed=1, households=0.8)
    del columns["phone"]
    before = Dossier().fit(columns)
    doubtful = np.argsort(np.abs(before.log_odds_), kind="stable")[:150]
    given = answers(before.pairs_[doubtful], truth)
    after = Dossier().fit(columns, constraints=given)
    assert pairwise(after.labels_, truth)[2] > pairwise(before.labels_, truth)[2]
    assert after.candidate_recall_ > 0.9


def test_some_wrong_answers_do_little_harm(easy, fitted):
    columns, truth = easy
    rng = np.random.default_rng(2)
    pairs = fitted.pairs_[rng.choice(len(fitted.pairs_), 150, replace=False)]
    model = Dossier().fit(columns, constraints=answers(pairs, truth, wrong=0.1))
    assert pairwise(model.labels_, truth)[2] > pairwise(fitted.labels_, truth)[2] - 0.02
    assert model.error_rate_ >= 0.05


def test_wrong_answers_are_suspected(easy, fitted):
    columns, truth = easy
    apart = fitted.pairs_[fitted.log_odds_.argsort()[:400:10]]
    kinds = np.full(len(apart), -1)
    kinds[5] = 1
    model = Dossier().fit(columns, constraints=Constraints.from_arrays(truth.size, apart, kinds))
    first = model.suspect_pairs(1)[0]
    assert (first.i, first.j, first.kind) == (*apart[5], 1)
    assert len(model.violations_) == 1


def test_hard_answers_are_never_broken(easy):
    columns, truth = easy
    rng = np.random.default_rng(0)
    pairs = np.sort(rng.choice(truth.size, (40, 2), replace=False), axis=1)
    kinds = rng.choice([-1, 1], 40)
    given = Constraints.from_arrays(truth.size, pairs, kinds).as_hard()
    model = Dossier().fit(columns, constraints=given)
    assert not len(model.violations_)
    assert np.isinf(model.log_odds_).sum() == 40


def test_hard_answers_that_contradict_are_refused(easy):
    columns, truth = easy
    given = Constraints(truth.size, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]).as_hard()
    with pytest.raises(InfeasibleConstraints):
        Dossier().fit(columns, constraints=given)


def test_answers_far_from_all_candidates_are_taken_in(easy, fitted):
    columns, truth = easy
    n = truth.size
    far = next(
        (0, j) for j in range(1, n) if j not in set(fitted.pairs_[fitted.pairs_[:, 0] == 0, 1])
    )
    model = Dossier().fit(columns, constraints=Constraints(n, must_link=[far]).as_hard())
    assert model.labels_[far[0]] == model.labels_[far[1]]
    assert model.candidate_recall_ == 0.0


# -- exclusive groups ----------------------------------------------------------------------------
def test_records_of_one_source_are_never_joined(easy):
    columns, truth = easy
    source = np.where(np.arange(truth.size) % 2 == 0, "a", "b").astype(object)
    source[:5] = None
    by_name = Dossier(exclusive="source").fit({**columns, "source": source})
    by_value = Dossier(exclusive=source).fit(columns)
    np.testing.assert_array_equal(by_name.labels_, by_value.labels_)
    for label in range(by_name.n_clusters_):
        held = source[(by_name.labels_ == label) & (source != None)]  # noqa: E711
        assert len(set(held)) == held.size


def two_shops(seed, shared):
    """120 things; a shop writes them otherwise than the other, and most prices are not given."""
    rng = np.random.default_rng(seed)
    rows = []
    for thing in range(120):
        brand = rng.choice(["Sony", "Canon", "Bose", "LG", "Samsung", "Philips", "JVC"])
        goods = rng.choice(["Digital Camera", "LCD HDTV", "Headphones", "Speaker", "Freezer"])
        letters, number = "".join(rng.choice(list("ABDKRX"), 2)), rng.integers(100, 999)
        color = rng.choice(["Black", "Silver"])
        one = f"{brand} {color} {goods} - {letters}{number}"
        about = f"{brand} {goods} {letters}{number}/ energy star/ 1 year warranty"
        other = f"{brand} {letters}-{number} {goods}"
        remote = f"{goods} with remote" if rng.random() < 0.5 else ""
        price = rng.uniform(20, 900)
        asked = [f"${part * price:.2f}" if rng.random() < 0.5 else "" for part in (1, 0.9)]
        in_both = thing < shared
        if in_both or thing % 2:
            rows.append((one, about, asked[0], "a", thing))
        if in_both or not thing % 2:
            rows.append((other, remote, asked[1], "b", thing))
    *columns, thing = zip(*rows, strict=True)
    names = "name", "about", "price", "shop"
    return dict(zip(names, map(list, columns), strict=True)), np.array(thing)


@pytest.mark.parametrize("seed", range(3))
def test_two_files_that_agree_in_one_field_alone_are_linked(seed):
    columns, truth = two_shops(seed, 70)
    precision, recall, _ = pairwise(Dossier(exclusive="shop").fit(columns).labels_, truth)
    assert precision > 0.9
    assert recall > 0.9


def test_two_files_with_nothing_in_common_are_not_joined():
    columns, truth = two_shops(1, 0)
    assert Dossier(exclusive="shop").fit(columns).n_clusters_ == truth.size


def test_hard_answers_against_exclusive_groups_are_refused(easy):
    columns, truth = easy
    given = Constraints(truth.size, must_link=[(0, 1), (1, 2)]).as_hard()
    with pytest.raises(InfeasibleConstraints, match="records 0 and 2"):
        Dossier(exclusive=np.arange(truth.size) % 2).fit(columns, constraints=given)


# -- new records ---------------------------------------------------------------------------------
def test_new_records_join_or_found_clusters(easy):
    columns, truth = easy
    old = np.random.default_rng(0).random(truth.size) < 0.7
    known = {name: values[old] for name, values in columns.items()}
    new = {name: values[~old] for name, values in columns.items()}
    model = Dossier().fit(known)
    before = model.labels_.copy()
    np.testing.assert_array_equal(model.predict(known), before)
    foretold = model.predict(new)
    is_new = ~np.isin(truth[~old], truth[old])
    assert (is_new == (foretold < 0)).mean() > 0.97
    added = model.extend(new)
    assert (added[foretold >= 0] == foretold[foretold >= 0]).mean() > 0.97
    np.testing.assert_array_equal(model.labels_[: before.size], before)
    everyone = np.concatenate([truth[old], truth[~old]])
    assert pairwise(model.labels_, everyone)[2] > 0.97
    assert model.pair_proba([(0, truth.size - 1)]).shape == (1,)


def test_new_records_are_read_as_the_fitted_ones_were(easy, fitted):
    # One record of digits alone looks like no date, and the field is a date all the same.
    new = {name: values[:1].copy() for name, values in easy[0].items()}
    new["born"][0] = "unknown"
    assert fitted.predict(new).shape == (1,)


def test_new_records_must_have_the_fields(easy, fitted):
    with pytest.raises(InvalidData, match="no field 'phone'"):
        fitted.predict(
            {"given": ["x"], "surname": ["y"], "street": [""], "town": [""], "born": [""]}
        )


# -- manners -------------------------------------------------------------------------------------
def test_frames_of_every_kind_are_the_same_records(easy, fitted):
    for frame in (pd.DataFrame(easy[0]), pl.DataFrame(easy[0])):
        model = Dossier().fit(frame)
        np.testing.assert_array_equal(model.labels_, fitted.labels_)
        assert list(model.feature_names_in_) == list(easy[0])


def test_a_saved_model_is_the_same(easy, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    new = {name: values[:20] for name, values in easy[0].items()}
    np.testing.assert_array_equal(again.predict(new), fitted.predict(new))
    assert str(again.explain(0, 1)) == str(fitted.explain(0, 1))


def test_any_number_of_threads_gives_the_same_bits(easy, fitted):
    with use_threads(2):
        model = Dossier().fit(easy[0])
    np.testing.assert_array_equal(model.log_odds_, fitted.log_odds_)


def test_a_watcher_sees_steps_and_can_end_the_fit(easy):
    seen = []
    with watching(lambda step: bool(seen.append(step)) or len(seen) > 2):
        model = Dossier().fit(easy[0])
    assert len(seen) > 2
    assert model.labels_.shape == easy[1].shape


def test_large_clusters_are_said_to_be_for_others():
    names = np.repeat(np.array(["anna lee", "bob marley"], dtype=object), 80)
    towns = np.repeat(np.array(["bern", "oslo"], dtype=object), 80)
    with pytest.warns(CoterieWarning, match="Mosaic or PCKMeans"):
        Dossier().fit(
            {"name": names, "town": towns},
            constraints=Constraints(
                160, must_link=[(i, i + 1) for i in range(159) if i != 79]
            ).as_hard(),
        )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 1.5}, "threshold=1.5"),
        ({"error_rate": 0.5}, "error_rate=0.5"),
        ({"fields": {"name": "words"}}, "kind of the field 'name'"),
        ({"exclusive": "sauce"}, "exclusive='sauce' is no column"),
        ({"candidates": [[0, 9]]}, "beyond 0 to 2"),
        ({"candidates": ["town", "fax"]}, "candidates='fax' is no column of X. The columns are"),
    ],
)
def test_parameters_that_are_not_understood(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        Dossier(**parameters).fit({"name": ["ann", "bob", "cid"], "town": ["a", "b", "c"]})


def test_records_that_share_a_named_value_are_compared():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("bcdfgklmnprst"), 9)) for _ in range(240)]
    desk = np.repeat([f"Desk {d}" for d in range(12)], 20).astype(object)
    desk[0] = desk[40] = ""
    columns = {"name": np.array(words, dtype=object), "desk": desk}
    pairs = Dossier({"name": "text"}, candidates="desk").fit(columns).pairs_
    shared = {(i, j) for i, j in pairs.tolist() if desk[i] and desk[i] == desk[j]}
    assert len(shared) == 10 * 190 + 2 * 171  # all pairs of a desk; missing is no value
    plain = Dossier({"name": "text"}).fit(columns).pairs_
    assert len(plain) < len(pairs)


def test_values_too_common_to_block_by_are_named():
    columns = {"name": [f"{k:03d} {k * 7919 % 1000}" for k in range(150)], "town": ["Ulm"] * 150}
    with pytest.warns(CoterieWarning, match="150 records have 'ulm' in 'town'"):
        Dossier(candidates=["town"]).fit(columns)


def test_one_record_and_records_without_values():
    assert Dossier().fit({"name": ["ann"]}).labels_.tolist() == [0]
    empty = {"name": ["", "", "ann", "ann"], "town": ["", "", "x", "x"]}
    labels = Dossier().fit(empty).labels_
    assert labels[0] != labels[1]


# -- answers about new records, and numbers that stay --------------------------------------------
@pytest.fixture
def parted(easy):
    """A model of four records in five, the others, and who everybody is."""
    columns, truth = easy
    old = np.random.default_rng(1).random(truth.size) < 0.8
    known, new = ({name: v[at] for name, v in columns.items()} for at in (old, ~old))
    return Dossier().fit(known), new, np.concatenate([truth[old], truth[~old]]), int(old.sum())


def test_answers_about_new_records_decide(parted):
    model, new, truth, n = parted
    before = model.labels_.copy()
    stranger = next(row for row in range(n, truth.size) if truth[row] not in truth[:n])
    mate = next(row for row in range(n, truth.size) if truth[row] in truth[:n])
    home = int(np.flatnonzero(truth[:n] == truth[mate])[0])
    hard = [(0, stranger), (home, mate)]
    given = Constraints(truth.size, hard[:1], hard[1:]).as_hard()
    labels = model.extend(new, constraints=given)
    np.testing.assert_array_equal(model.labels_[:n], before)
    assert labels[stranger - n] == before[0]
    assert labels[mate - n] != before[home]
    assert model.constraints_.n_pairs == 2
    assert len(model.violations_) == 0
    assert model.n_clusters_ == np.unique(model.labels_).size


def test_soft_answers_about_new_records_may_be_broken_and_are_told(parted):
    model, new, truth, n = parted
    i, j = 0, n  # strangers to each other, and a weak answer that says otherwise
    assert truth[i] != truth[j]
    given = Constraints(truth.size, [(i, j)], must_certainty=0.6)
    model.extend(new, constraints=given)
    assert model.labels_[i] != model.labels_[j]
    assert len(model.violations_) == 1


@pytest.mark.parametrize("why", ["two clusters", "told apart", "old rows"])
def test_hard_answers_that_new_records_cannot_bear_are_refused(parted, why):
    model, new, truth, n = parted
    before = model.labels_.copy()
    other = int(np.flatnonzero(before != before[0])[0])
    pairs = {
        "two clusters": ([(0, n), (other, n)], [], "by the new record"),
        "told apart": ([(0, n), (n, n + 1)], [(0, n + 1)], "tells records 0 and"),
        "old rows": ([(0, other)], [], "extend keeps"),
    }
    must, cannot, message = pairs[why]
    given = Constraints(truth.size, must, cannot).as_hard()
    with pytest.raises(InfeasibleConstraints, match=message):
        model.extend(new, constraints=given)
    np.testing.assert_array_equal(model.labels_, before)


def test_new_records_of_one_source_are_never_joined_by_answers(easy):
    some = {name: values[:60] for name, values in easy[0].items()}
    model = Dossier(exclusive="source").fit(some | {"source": np.arange(60).astype(str)})
    new = {name: values[60:61] for name, values in easy[0].items()} | {"source": np.array(["7"])}
    with pytest.raises(InfeasibleConstraints, match="7 and 60, which are of one exclusive group"):
        model.extend(new, constraints=Constraints(61, [(7, 60)]).as_hard())
    model.extend(new, constraints=Constraints(61, [(8, 60)]).as_hard())
    assert model.labels_[60] == model.labels_[8]


def test_numbers_of_an_earlier_fit_are_kept(easy, fitted):
    columns, truth = easy
    order = np.random.default_rng(0).permutation(truth.size)
    shuffled = Dossier().fit({name: values[order] for name, values in columns.items()})
    assert (shuffled.labels_ != fitted.labels_[order]).any()
    shuffled.renumber_like(fitted, ids=order.tolist(), old_ids=list(range(truth.size)))
    kept = shuffled.labels_ == fitted.labels_[order]
    assert kept.mean() > 0.95
    assert np.unique(shuffled.labels_).tolist() == list(range(shuffled.n_clusters_))


def test_new_records_may_have_odd_values_where_numbers_were_found():
    names = np.array([f"{a}{b} shop" for a in "abcdef" for b in "uvwxyz"], dtype=object)
    asked = np.array([f"{row}.25" for row in range(36)], dtype=object)
    model = Dossier().fit({"name": names, "price": asked})
    new = {"name": names[:2], "price": np.array(["on request", "1.25"], dtype=object)}
    with pytest.warns(CoterieWarning, match="'on request' in row 0"):
        assert model.predict(new).tolist() == model.labels_[:2].tolist()
    named = Dossier({"name": "text", "price": "number"}).fit({"name": names, "price": asked})
    with pytest.raises(InvalidData, match="'on request' in the field 'price'"):
        named.predict(new)
