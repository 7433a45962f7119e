"""A log bound to ids outlives changes of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coterie import ActiveSession, PCKMeans
from coterie.active import AnswerStore, RandomPairs
from coterie.active.log.row_ids import match_ids
from coterie.exceptions import AnswersMismatch, InvalidParameter

X = np.random.default_rng(0).normal(size=(12, 3))
IDS = [f"r{i}" for i in range(12)]


def open_session(store, rows, ids, **options):
    return ActiveSession(
        rows, strategy=RandomPairs(), estimator=PCKMeans(2, random_state=0),
        store=store, ids=ids, **options,
    )  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "log.db"
    with AnswerStore(path) as store:
        session = open_session(store, X, IDS, random_state=0)
        session.tell((0, 1), "same").tell((2, 3), "different").tell((3, 4), "same")
        session.name(int(session.labels()[5]), "five")
    return path


def said(session, ids):
    return {(frozenset(ids[row] for row in a.rows), a.answer) for a in session.history}


ALL = {
    (frozenset({"r0", "r1"}), "same"),
    (frozenset({"r2", "r3"}), "different"),
    (frozenset({"r3", "r4"}), "same"),
}


def test_nothing_changed_is_nothing_to_report(path):
    with AnswerStore(path) as store:
        session = open_session(store, X, IDS)
        assert said(session, IDS) == ALL
        assert str(session.row_changes) == "no row changed"
        assert session.set_aside == ()


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_in_another_order_with_new_ones_and_corrections(tmp_path, sparse):
    rows = sp.csr_array(X) if sparse else X
    with AnswerStore(tmp_path / "log.db") as store:
        session = open_session(store, rows, IDS, random_state=0)
        session.tell((0, 1), "same").tell((2, 3), "different").tell((3, 4), "same")
    order = np.random.default_rng(1).permutation(12)
    changed = np.vstack([X[order], np.ones((1, 3))])
    changed[0, 0] += 1.0
    ids = [IDS[i] for i in order] + ["r99"]
    with AnswerStore(tmp_path / "log.db") as store:
        session = open_session(store, sp.csr_array(changed) if sparse else changed, ids)
        assert said(session, ids) == ALL
        assert session.row_changes == (("r99",), (), (ids[0],))
        session.tell((ids.index("r99"), ids.index("r0")), "same")
        assert session.labels().shape == (13,)
    with AnswerStore(tmp_path / "log.db") as store:  # and back again, the new row in front
        back = ["r99", *IDS]
        rows = np.vstack([np.ones((1, 3)), X])
        session = open_session(store, sp.csr_array(rows) if sparse else rows, back)
        assert said(session, back) == ALL | {(frozenset({"r99", "r0"}), "same")}
        assert session.row_changes == ((), (), (ids[0],))


def test_answers_about_rows_that_are_gone_are_kept_aside_until_they_are_back(path):
    keep = [i for i in range(12) if i != 3]
    with AnswerStore(path) as store:
        session = open_session(store, X[keep], [IDS[i] for i in keep])
        assert session.row_changes.removed == ("r3",)
        assert [a.answer for a in session.history] == ["same"]
        assert [a.number for a in session.set_aside] == [2, 3]
        assert session.constraints.n_pairs == 1
        session.tell((2, 3), "same")  # r2 and r4 now
        assert store.constraints(ids=[IDS[i] for i in keep]).pairs.tolist() == [[0, 1], [2, 3]]
    with AnswerStore(path) as store:
        session = open_session(store, X, IDS)
        assert said(session, IDS) == ALL | {(frozenset({"r2", "r4"}), "same")}
        assert session.set_aside == ()


def test_names_go_with_the_ids(path):
    order = np.arange(12)[::-1]
    with AnswerStore(path) as store:
        session = open_session(store, X[order], [IDS[i] for i in order])
        assert list(session.names.values()) == ["five"]


def test_undo_goes_on_where_the_log_ended(path):
    order = np.arange(12)[::-1]
    ids = [IDS[i] for i in order]
    with AnswerStore(path) as store:
        session = open_session(store, X[order], ids)
        session.undo(2)  # the name, and r3 = r4
        assert said(session, ids) == {one for one in ALL if "r4" not in one[0]}


def test_a_log_bound_to_values_is_taken_over_by_ids(tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        ActiveSession(X, strategy=RandomPairs(), store=store, random_state=0).tell((0, 1), "same")
    with (
        AnswerStore(tmp_path / "log.db") as store,
        pytest.raises(AnswersMismatch, match="other data"),
    ):
        open_session(store, X[::-1], IDS[::-1])
    with AnswerStore(tmp_path / "log.db") as store:
        open_session(store, X, IDS)
    with AnswerStore(tmp_path / "log.db") as store:
        session = open_session(store, X[::-1].copy(), IDS[::-1])
        assert [sorted(a.rows) for a in session.history] == [[10, 11]]


def test_other_ids_none_or_too_few_are_refused(path):
    with AnswerStore(path) as store:
        with pytest.raises(AnswersMismatch, match="none of its 12 ids"):
            open_session(store, X, [f"other {i}" for i in range(12)])
        with pytest.raises(AnswersMismatch, match="bound to the ids"):
            open_session(store, X, None)
        with pytest.raises(InvalidParameter, match="every row needs its own"):
            open_session(store, X, ["a"] * 12)
        with pytest.raises(AnswersMismatch, match="random_state=0, not 4"):
            open_session(store, X, IDS, random_state=4)


def test_rows_in_the_order_of_the_log_are_matched_on_the_way():
    """Whatever was added, removed, edited or moved: as a plain look-up of every id has it."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        logged = [(at, f"r{name}", "0" * 16) for at, name in enumerate(rng.permutation(9))]
        names = [name for _, name, _ in logged if rng.random() < 0.8]
        if rng.random() < 0.5:
            rng.shuffle(names)
        for name in ("new", "newer")[: rng.integers(0, 3)]:
            names.insert(int(rng.integers(0, len(names) + 1)), name)
        edited = {name for name in names if rng.random() < 0.2}
        hashes = np.array([b"1" * 16 if name in edited else b"0" * 16 for name in names], "S16")
        found = match_ids(iter(logged), names, hashes)
        known = {name: number for number, name, _ in logged}
        fresh = [row for row, name in enumerate(names) if name not in known]
        assert found.fresh.tolist() == fresh
        numbers = [
            known.get(name, 9 + sum(f < row for f in fresh)) for row, name in enumerate(names)
        ]
        assert found.bound.logged.tolist() == numbers
        assert all(found.bound.row(number) == row for row, number in enumerate(numbers))
        gone = [name for name in known if name not in names]
        assert found.removed == gone
        assert all(found.bound.row(known[name]) == -1 - known[name] for name in gone)
        assert sorted(found.edited) == sorted((known[n], n) for n in edited if n in known)
