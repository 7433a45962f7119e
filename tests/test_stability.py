"""Numbers that stay, and what changed, by the rows that clusters share."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import (
    ConstrainedCompleteLink,
    DPMeans,
    HMRFKMeans,
    MPCKMeans,
    PCKMeans,
    diff,
    renumber,
)
from coterie.base import ConstrainedClusterer
from coterie.exceptions import InvalidData, InvalidParameter

few = st.lists(st.integers(-1, 3), min_size=1, max_size=10)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_as_many_rows_as_possible_keep_their_number(data):
    old = np.array(data.draw(few))
    new = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=old.size, max_size=old.size)))
    found = renumber(new, old)
    assert ((found < 0) == (new < 0)).all()
    pairs = set(zip(new.tolist(), found.tolist(), strict=True))
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)  # one to one
    inside = old >= 0
    best = max(
        (np.array([*order, -1])[new][inside & (new >= 0)] == old[inside & (new >= 0)]).sum()
        for order in permutations(range(4))
    )
    assert (found == old)[inside & (new >= 0)].sum() == best


def test_new_clusters_get_numbers_nobody_had():
    assert renumber([2, 2, 0, 0, 1], [0, 0, 4, 4, 4]).tolist() == [0, 0, 4, 4, 1]
    assert renumber([2, 2, 0, 0, 1], [0, 0, 4, 4, 4], compact=True).tolist() == [0, 0, 1, 1, 2]


def test_ids_instead_of_places():
    found = renumber([0, 0, 1], [1, 1, 0, 0], ids=["d", "x", "a"], like_ids=["a", "b", "c", "d"])
    assert found.tolist() == [0, 0, 1]
    with pytest.raises(InvalidData, match="give the ids of both"):
        renumber([0, 0], [0, 0, 1])
    with pytest.raises(InvalidData, match="every row"):
        renumber([0, 0], [0], ids=["a", "a"], like_ids=["a"])


def test_a_split_a_merge_and_moved_rows_are_told():
    old = np.repeat([0, 1, 2, 3], 10)
    new = np.repeat([7, 7, 5, 6], 10)  # 0 and 1 merge
    new[35:] = 8  # 3 splits
    new[20] = 6  # one row moves from 2 to what was 3
    found = diff(old, new)
    table = found.to_frame("clusters").set_index(["before", "after"])["what"].to_dict()
    assert table == {
        (0, 7): "merged", (1, 7): "merged", (2, 5): "split", (2, 6): "mixed",
        (3, 6): "mixed", (3, 8): "split",
    }  # fmt: skip
    moved = found.to_frame("rows")
    assert 20 in moved["id"].tolist()
    assert found.n_same == 40 - len(moved) == 24
    assert diff(old, (old + 1) % 4).n_same == 40  # numbers do not matter
    assert set(diff(old, (old + 1) % 4).clusters["what"].tolist()) == {"kept"}


def test_rows_and_clusters_that_came_and_went():
    found = diff([0, 0, 1], [4, 4, 9, 9], ids=["a", "b", "x", "y"], old_ids=["a", "b", "c"])
    rows = found.to_frame("rows").sort_values("id")
    assert rows.to_numpy().tolist() == [
        ["c", 1, -2, "gone"], ["x", -2, 9, "new"], ["y", -2, 9, "new"]
    ]  # fmt: skip
    assert found.clusters["what"].tolist() == ["kept", "gone", "new"]
    assert "new: cluster 9 (2 rows)" in str(found)


GROUPS = np.repeat([0, 1, 2], 15)
X = np.random.default_rng(0).normal(size=(45, 2)) + 9 * np.array([[0, 0], [1, 0], [0, 1]])[GROUPS]


@pytest.mark.parametrize(
    "model",
    [
        PCKMeans(3, random_state=1),
        HMRFKMeans(3, random_state=1),
        MPCKMeans(3, random_state=1),
        DPMeans(random_state=1),
        ConstrainedCompleteLink(3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_are_put_in_the_old_order(model):
    model.fit(X)
    for order in permutations(range(3)):
        old = np.array(order)[GROUPS]
        model.renumber_like(old)
        assert np.array_equal(model.labels_, old)
        assert np.array_equal(model.predict(X), old)
        if hasattr(model, "transform"):
            assert np.array_equal(model.transform(X).argmin(axis=1), old)


def test_a_model_with_fewer_clusters_has_no_gap():
    model = PCKMeans(2, random_state=0).fit(X)
    model.renumber_like(GROUPS)
    assert set(model.labels_) == {0, 1}
    assert np.array_equal(model.predict(X), model.labels_)


class Bare(ConstrainedClusterer):
    """Somebody's clusterer that says nothing of its clusters' order."""

    def fit(self, X, y=None):
        self.labels_ = GROUPS
        return self


def test_models_that_cannot_be_reordered_say_what_can():
    with pytest.raises(InvalidParameter, match=r"coterie\.renumber"):
        Bare().fit(X).renumber_like(GROUPS)


def test_of_clusters_that_share_as_many_rows_the_one_with_the_number_keeps_it():
    """A merge that is taken back: both halves share 12 rows with what was one."""
    both = np.zeros(24, dtype=np.int64)
    for halves in (np.repeat([0, 1], 12), np.repeat([1, 0], 12)):
        assert (renumber(halves, like=both) == halves).all()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), min_size=1, max_size=20),
    st.lists(st.integers(0, 2**63 - 1), min_size=6, max_size=6, unique=True),
)
def test_clusters_may_have_any_numbers(rows, numbers):
    """Nothing is made that goes up to the largest; what changed is the same under other numbers."""
    old, new = np.array(rows).T
    other = np.array([*sorted(numbers), -1])  # in the same order, as ties go by it
    plain, found = diff(old, new), diff(other[old], other[new])
    assert found.n_same == plain.n_same
    for name in ("before", "after"):
        expected = np.where(plain.rows[name] < 0, plain.rows[name], other[plain.rows[name]])
        assert np.array_equal(found.rows[name], expected)
        listed = plain.clusters[name]
        assert np.array_equal(
            found.clusters[name], np.where(listed < 0, listed, other[np.maximum(listed, 0)])
        )
    for name in ("n_rows", "share_before", "share_after", "what"):
        assert np.array_equal(found.clusters[name], plain.clusters[name])


def test_large_labels_of_few_rows_keep_their_numbers():
    """They were refused from 2^20 on: an array was made that went up to the largest."""
    old, new = np.array([7_000_000, 7_000_000, 2**63 - 1]), np.array([1, 1, 0])
    assert renumber(new, like=old).tolist() == old.tolist()
    assert renumber(old, like=new, compact=True).tolist() == [1, 1, 0]
    assert diff(old, new).n_same == 3


def test_a_label_that_no_int64_holds_is_refused():
    with pytest.raises(InvalidData, match=f"labels hold {2**63}"):
        diff(np.array([0, 2**63], dtype=np.uint64), np.array([0, 1]))
