"""Two records side by side, and which of their columns are shown."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.exceptions import InvalidData
from coterie.tables import Choices, Recipe, Records, Table, choose_fields, side_by_side


def table(n_columns=2):
    columns = {f"c{t}": np.array([float(t), 1.0 + t * t]) for t in range(n_columns)}
    return Table.of("t", {"id": np.array(["p", "q"], dtype=object), **columns})


def test_columns_that_were_clustered_by_are_shown_first_and_twelve_at_most():
    t = table(20)
    recipe = Recipe.learn(t, Choices("id", features=("c15", "c3")))
    shown = choose_fields(t, recipe)
    assert shown[:3] == ["c3", "c15", "c0"]
    assert len(shown) == 12
    assert "id" not in shown
    assert choose_fields(t, recipe, ["c7", "id"]) == ["c7", "id"]
    with pytest.raises(InvalidData, match=r"has no column 'c77' \(`fields`\)"):
        choose_fields(t, recipe, ["c77"])


def test_a_record_cannot_drive_the_terminal():
    records = Records(["note"], ["p", "q"], [["evil\x1b[2J" + "long " * 40], ["plain"]])
    shown = side_by_side(records, 0, 1, width=60)
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 60


def test_missing_values_are_empty_and_differences_are_marked():
    town = np.array(["Ulm", None], dtype=object)
    t = Table.of("t", {"town": town, "x": np.array([1.0, 1.0])})
    records = Records.of(t, ["p", "q"], ["town", "x"])
    assert records.values == [["Ulm", "1"], ["", "1"]]
    lines = side_by_side(records, 0, 1, width=40).splitlines()
    assert [line[0] for line in lines[1:]] == ["*", " "]
    assert Records.of(t, ["p", "q"], []).values == [[], []]
