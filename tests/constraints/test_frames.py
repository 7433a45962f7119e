"""Data frames in and out: pandas, polars, pyarrow."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coterie.constraints import Constraints
from coterie.exceptions import InvalidConstraints, InvalidParameter

INF = np.inf
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


class Stream:
    """A table that can do nothing but hand itself over, as a DuckDB relation does."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_anything_with_an_arrow_stream_is_a_frame():
    table = pa.table({"a": ["x", "y"], "b": ["y", "z"], "kind": ["same", "different"]})
    found = Constraints.from_frame(Stream(table), a="a", b="b", kind="kind", ids=["x", "y", "z"])
    assert found == Constraints(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
