"""Tables of pairs with a value."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pytest

from coterie.constraints import PairTable
from coterie.exceptions import InvalidParameter

INF = np.inf


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
    for backend in ("pandas", "polars", "pyarrow"):
        frame = nw.from_native(table.to_frame(backend))
        assert frame.columns == ["i", "j", "kind", "<nats>"]
        assert frame["kind"].to_list()[:2] == ["cannot-link", "must-link"]
