"""From labels, groups, matrices and frames; subset and relabel; files and tables."""

from __future__ import annotations

import os
import stat
from itertools import combinations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from constraints.strategies import constraint_sets
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from coterie.constraints import Constraints, PairTable
from coterie.constraints import files as files_module
from coterie.exceptions import InvalidConstraints, InvalidParameter, MissingDependency
from reference import constraints as naive

INF = np.inf
label_lists = st.lists(st.integers(-1, 3), min_size=1, max_size=8)


@given(label_lists)
def test_labels_entail_exactly_themselves(y):
    c = Constraints.from_labels(y)
    closure = c.closure()
    for i, j in combinations(range(len(y)), 2):
        known = y[i] != -1 and y[j] != -1
        expected = ("must" if y[i] == y[j] else "cannot") if known else "unknown"
        assert closure.relation(i, j).kind == expected
    assert c.is_hard.all()


@given(label_lists)
def test_groups_entail_exactly_themselves(g):
    c = Constraints.from_groups(g)
    closure = c.closure()
    for i, j in combinations(range(len(g)), 2):
        same = g[i] == g[j] != -1
        assert closure.relation(i, j).kind == ("must" if same else "unknown")
    grouped = [value for value in g if value != -1]
    assert c.n_pairs == len(grouped) - len(set(grouped))  # a tree for each group, never all pairs


@given(label_lists)
def test_exclusive_groups(g):
    c = Constraints.from_exclusive_groups(g)
    expected = [[i, j] for i, j in combinations(range(len(g)), 2) if g[i] == g[j] != -1]
    assert c.cannot_link.tolist() == expected
    assert c.must_link.size == 0


@pytest.mark.parametrize(
    "y",
    [
        [5, 5, -1, 7],
        [0.5, 0.5, np.nan, 2.0],
        np.array(["a", "a", None, "b"], dtype=object),
        pd.Series([5, 5, None, 7]),
    ],
)
def test_unknown_labels(y):
    assert Constraints.from_labels(y) == Constraints(
        4, [(0, 1)], [(0, 3)], must_weight=INF, cannot_weight=INF
    )


def test_text_labels_and_options():
    c = Constraints.from_labels(["a", "b", "a"], weight=2.0, certainty=0.9)
    assert c == Constraints(
        3, [(0, 2)], [(0, 1)],
        must_weight=2, cannot_weight=2, must_certainty=0.9, cannot_certainty=0.9,
    )  # fmt: skip
    with pytest.raises(InvalidConstraints, match=r"shape \(1, 2\)"):
        Constraints.from_labels([[0, 1]])
    with pytest.raises(InvalidConstraints, match="types"):
        Constraints.from_groups(np.array(["a", 3], dtype=object))


@given(constraint_sets(hard=False))
def test_matrices_round_trip(c):
    c = Constraints(c.n_samples, c.must_link)  # one kind and weight 1: a matrix holds one number
    matrix = np.zeros((c.n_samples, c.n_samples))
    matrix[tuple(c.pairs.T)] = 1
    expected = Constraints(c.n_samples, np.unique(c.pairs, axis=0))
    for given_matrix in (matrix, matrix.T, matrix + matrix.T):
        assert Constraints.from_dense(given_matrix) == expected
        assert Constraints.from_sparse(csr_array(given_matrix)) == expected


def test_matrix_values():
    matrix = np.array([[1, 2, -INF], [2, 0, 0], [0, 0, 0]])
    assert Constraints.from_dense(matrix) == Constraints(
        3, [(0, 1)], [(0, 2)], must_weight=2, cannot_weight=INF
    )
    assert Constraints.from_sparse(coo_array(np.eye(3))).n_pairs == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        ([[0, 1], [-1, 0]], r"\(0, 1\) and \(1, 0\) differ"),
        ([[0, np.nan], [0, 0]], r"\(0, 1\).*NaN"),
        ([[-1, 0], [0, 0]], r"\(0, 0\)"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(InvalidConstraints, match=message):
        Constraints.from_dense(matrix)
    with pytest.raises(InvalidConstraints, match=message):
        Constraints.from_sparse(coo_array(np.asarray(matrix)))


def test_from_sparse_wants_sparse():
    with pytest.raises(InvalidConstraints, match="from_dense"):
        Constraints.from_sparse(np.eye(2))


@given(constraint_sets(), st.randoms(use_true_random=False))
def test_subset_against_a_loop(c, random):
    rows = random.sample(range(c.n_samples), random.randint(0, c.n_samples))
    sub = c.subset(rows)
    assert sub.n_samples == len(rows)
    expected = [
        (*sorted((rows.index(i), rows.index(j))), int(kind), weight)
        for (i, j), kind, weight in zip(c.pairs.tolist(), c.kind, c.weight, strict=True)
        if i in rows and j in rows
    ]
    held = zip(*sub.pairs.T.tolist(), sub.kind.tolist(), sub.weight.tolist(), strict=True)
    assert sorted(held) == sorted(expected)
    mask = np.isin(np.arange(c.n_samples), rows)
    assert c.subset(mask) == c.subset(sorted(rows))


@given(constraint_sets(), st.randoms(use_true_random=False))
def test_subset_and_relabel_undo_each_other(c, random):
    order = list(range(c.n_samples))
    random.shuffle(order)
    assert c.subset(order).relabel(order) == c
    assert c.relabel(order).subset(order) == c


@pytest.mark.parametrize(
    ("rows", "message"),
    [([0, 0], "more than once"), ([5], r"rows\[0\] = 5"), ([0.5], "float64"), ([-1], "-1")],
)
def test_bad_subsets(rows, message):
    with pytest.raises(InvalidConstraints, match=message):
        Constraints(3).subset(rows)


def test_relabel_merges_and_widens():
    c = Constraints(3, [(0, 1)], [(1, 2)])
    assert c.relabel([0, 0, 1]) == Constraints(3, cannot_link=[(0, 1)])
    assert c.relabel([4, 5, 6], 7).pairs.tolist() == [[4, 5], [5, 6]]
    with pytest.raises(InvalidConstraints, match=r"\(1, 1\)"):
        c.relabel([0, 1, 1])
    with pytest.raises(InvalidConstraints, match=r"mapping\[2\] = 3"):
        c.relabel([0, 1, 3])
    with pytest.raises(InvalidConstraints, match="3 rows"):
        c.relabel([0, 1])


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("backend", FRAMES)
def test_frames_round_trip(backend):
    c = Constraints(4, [(0, 1), (0, 2)], [(2, 3)], must_weight=[INF, 2], cannot_certainty=0.7)
    frame = c.to_frame(backend)
    assert isinstance(frame, pa.Table if backend == "pyarrow" else FRAMES[backend])
    columns = {"a": "i", "b": "j", "kind": "kind", "weight": "weight", "certainty": "certainty"}
    assert Constraints.from_frame(frame, **columns, n_samples=4) == c
    for ids in (list("wxyz"), [10, 20, 30, 40], pd.Index(["w", "x", "y", "z"])):
        named = c.to_frame(backend, ids=ids)
        assert nw.from_native(named)["i"].to_list() == [ids[0], ids[0], ids[2]]
        assert Constraints.from_frame(named, **columns, ids=ids) == c


SPELLINGS = [
    ("must", "cannot"), ("Must-Link", "CANNOT-LINK"), ("must_link", "cannot link"),
    ("same", "different"), ("ml", "cl"), ("+1", "-1"), (1, -1), (1.0, -1.0),
    (True, False), ("true", "False"),
]  # fmt: skip


@pytest.mark.parametrize("backend", FRAMES)
@pytest.mark.parametrize(("must", "cannot"), SPELLINGS)
def test_kind_spellings(backend, must, cannot):
    frame = FRAMES[backend]({"a": [0, 1], "b": [1, 2], "what": [must, cannot]})
    made = Constraints.from_frame(frame, a="a", b="b", kind="what", n_samples=3)
    assert made == Constraints(3, [(0, 1)], [(1, 2)])


BAD_FRAMES = {
    "spelling": ({"k": ["must", "maybe"]}, "row 1 of the frame: 'maybe'"),
    "zero": ({"k": [1, 0]}, "row 1 of the frame: 0"),
    "unknown id": ({"a": ["x", "q"]}, "row 1 of the frame: 'q' in column 'a'"),
    "wrong type of id": ({"a": [1, 2]}, "ids are str, this is int"),
    "weight": ({"w": [1.0, -2.0]}, r"column 'w'\[1\] = -2"),
    "missing weight": ({"w": [1.0, None]}, r"column 'w'\[1\] = nan"),
    "certainty": ({"c": [0.9, 1.2]}, r"column 'c'\[1\] = 1.2"),
    "text weight": ({"w": ["much", "little"]}, "column 'w' does not hold numbers"),
}


@pytest.mark.parametrize("backend", FRAMES)
@pytest.mark.parametrize(("change", "message"), BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_bad_frames(backend, change, message):
    good = {
        "a": ["x", "y"], "b": ["y", "z"], "k": ["must", "cannot"], "w": [1.0, 2.0], "c": [0.9, 0.8],
    }  # fmt: skip
    frame = FRAMES[backend](good | change)
    names = {"a": "a", "b": "b", "kind": "k", "weight": "w", "certainty": "c"}
    with pytest.raises(InvalidConstraints, match=message):
        Constraints.from_frame(frame, **names, ids=["x", "y", "z"])


def test_more_bad_frames():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 9], "k": ["ml", "cl"]})
    with pytest.raises(InvalidConstraints, match="row 1 of the frame: 9 in column 'b'"):
        Constraints.from_frame(frame, a="a", b="b", kind="k", n_samples=3)
    with pytest.raises(InvalidConstraints, match="no column 'kind'"):
        Constraints.from_frame(frame, a="a", b="b", kind="kind", n_samples=3)
    with pytest.raises(InvalidConstraints, match="ids="):
        Constraints.from_frame(frame, a="a", b="b", kind="k")
    with pytest.raises(InvalidConstraints, match=r"'x' more than once \(rows 0 and 2\)"):
        Constraints.from_frame(frame, a="a", b="b", kind="k", ids=["x", "y", "x"])
    with pytest.raises(InvalidConstraints, match="lists 2 rows"):
        Constraints.from_frame(frame, a="a", b="b", kind="k", ids=[0, 1], n_samples=3)
    with pytest.raises(InvalidConstraints, match="list is not a data frame"):
        Constraints.from_frame([(0, 1)], a="a", b="b", kind="k", n_samples=3)
    with pytest.raises(InvalidConstraints, match="float64"):
        Constraints.from_frame(frame.assign(a=[0.0, np.nan]), a="a", b="b", kind="k", n_samples=3)
    with pytest.raises(InvalidParameter, match="excel"):
        Constraints(3).to_frame("excel")
    with pytest.raises(InvalidConstraints, match="3 rows"):
        Constraints(3).to_frame(ids=["a"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@given(c=constraint_sets())
def test_files_round_trip(tmp_path_factory, suffix, c):
    path = tmp_path_factory.mktemp("files") / f"pairs.{suffix}"
    c.save(path)
    assert Constraints.load(path) == c
    assert os.listdir(path.parent) == [path.name]


def test_numbers_survive_csv_exactly(tmp_path):
    c = Constraints(3, [(0, 1)], must_weight=1 / 3, must_certainty=np.nextafter(0.7, 1))
    c.save(tmp_path / "c.csv")
    assert Constraints.load(tmp_path / "c.csv") == c
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "c.csv").stat().st_mode) == 0o666 & ~umask


def test_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "c.csv"
    Constraints(3, [(0, 1)]).save(path)

    def fail(path, *_, **__):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(files_module.np, "savetxt", fail)
    with pytest.raises(OSError, match="disk full"):
        Constraints(4).save(path)
    assert Constraints.load(path) == Constraints(3, [(0, 1)])
    assert os.listdir(tmp_path) == ["c.csv"]


def test_bad_files(tmp_path):
    first = "# coterie constraints, n_samples=3\ni,j,kind,weight,certainty\n"
    cases = {
        "i,j\n0,1\n": "is not a constraints file",
        first + "0,1,maybe,1.0,nan\n": "'maybe'",
        first + "0,x,must,1.0,nan\n": "third line",
        first + "0,7,must,1.0,nan\n": r"must_link\[0\] = \(0, 7\)",
    }
    for text, message in cases.items():
        (tmp_path / "c.csv").write_text(text)
        with pytest.raises(InvalidConstraints, match=message):
            Constraints.load(tmp_path / "c.csv")
    pd.DataFrame({"i": [0]}).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InvalidConstraints, match="not written by"):
        Constraints.load(tmp_path / "c.parquet")
    with pytest.raises(InvalidParameter, match=r"\.csv or \.parquet"):
        Constraints(3).save(tmp_path / "c.xlsx")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"coterie\[parquet\]"):
        Constraints(3).save(tmp_path / "c.parquet")
    assert os.listdir(tmp_path) == []


def test_pair_table():
    table = PairTable([5, 0, 2], [6, 1, 3], [1, 1, -1], [0.5, 0.5, INF])
    assert [tuple(pair) for pair in table] == [(2, 3, -1, INF), (0, 1, 1, 0.5), (5, 6, 1, 0.5)]
    assert table[-1] == (5, 6, 1, 0.5)
    assert table[0].value == INF
    assert len(table) == 3
    assert table[table.kind > 0] == PairTable([0, 5], [1, 6], [1, 1], [0.5, 0.5])
    assert table[1:] != table[:2]
    with pytest.raises(IndexError):
        table[3]
    with pytest.raises(InvalidParameter, match="one length"):
        PairTable([0], [1], [1], [1, 2])


def test_pair_table_shows_itself():
    table = PairTable(np.arange(12), np.arange(12) + 1, [1, -1] * 6, np.arange(12.0), name="<nats>")
    lines = repr(table).splitlines()
    assert lines[0] == "PairTable(12 pairs, worst first)"
    assert lines[2].split() == ["11", "12", "cannot-link", "11"]
    assert lines[-1].strip() == "… and 2 more"
    assert "<th>&lt;nats&gt;</th>" in table._repr_html_()
    assert table._repr_html_().count("<tr><td>") == 10
    assert repr(table[:0]) == "PairTable(no pairs)"
    for backend in FRAMES:
        frame = nw.from_native(table.to_frame(backend))
        assert frame.columns == ["i", "j", "kind", "<nats>"]
        assert frame["kind"].to_list()[:2] == ["cannot-link", "must-link"]


def test_twin_agrees_on_a_known_case():
    c = Constraints(4, [(0, 1), (1, 2)], [(0, 2)])
    assert not naive.consistent(c)
    assert naive.consistent(naive.without(c, 0))
