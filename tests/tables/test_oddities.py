"""What looks wrong in a table and is told, without anything being changed."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.exceptions import InvalidData
from coterie.tables import Recipe, Table
from coterie.tables.oddities import oddities


def told(**columns):
    table = Table.of("t", {name: np.array(values, object) for name, values in columns.items()})
    recipe = Recipe.learn(table)
    return oddities(table, recipe, recipe.apply(table).X)


def test_values_that_differ_in_capitals_or_spaces_only():
    notes = told(sex=["F", "m", "f", "M", "x"], town=["New York", "Rom", "new  york", "Rom", "Rom"])
    many = "some values differ in capitals or spaces only, and count as different"
    assert notes == [
        f"sex: {many} ('F' and 'f', 'M' and 'm')",
        f"town: {many} ('New York' and 'new  york')",
    ]


@pytest.mark.parametrize("sign", [", ", ";", "|"])
def test_cells_of_several_values(sign):
    tags = [sign.join(some) for some in ("ab", "bc", "ac", "abc", "a", "cb")]
    (note,) = told(tags=tags, x=["1", "2", "3", "4", "5", "7"])
    assert "tags: cells hold several values each" in note
    assert "tags:words in `columns`" in note


def test_names_with_a_comma_are_no_lists():
    assert told(who=["Lee, Ann", "Roe, Bob", "Day, Cid", "Fox, Eve"]) == []


def test_units_below_the_header_are_named():
    temp = np.array(["°C", *map(str, range(20, 30))], object)
    hint = "If the first row holds units or a second header, leave it out with `where` 'temp != °C'"
    with pytest.raises(InvalidData, match=hint):
        Recipe.learn(Table.of("t", {"temp": temp}))
