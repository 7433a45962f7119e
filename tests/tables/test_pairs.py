"""Pairs by id from a file, there and back, and what is wrong with them said by line and id."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import numpy as np
import pytest

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints
from coterie.tables import name_conflict, pair_table, read_pairs, write_table

IDS = ["ann", "bob", "cid", "dora"]


def pairs(text):
    Path("p.csv").write_text(text)
    return "p.csv"


def test_pairs_come_by_id_or_by_number(folder):
    expected = Constraints(4, [(0, 1)], [(1, 2)])
    assert read_pairs(pairs("a,b,kind\nann,bob,must\ncid,bob,different\n"), IDS) == expected
    by_number = pairs("i,j,kind\n0,1,1\n2,1,-1\n")
    assert read_pairs(by_number, IDS, by_id=False) == expected


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet"])
def test_what_is_written_is_read_again(name, folder):
    plain = Constraints(4, [(0, 1)], [(1, 2), (0, 3)])
    rich = Constraints(
        4,
        [(0, 1)],
        [(1, 2), (0, 3)],
        must_weight=np.inf,
        cannot_certainty=[0.75, np.nan],
    )
    if name == "p.jsonl":
        rich = rich.as_soft()  # JSON has no infinity
    for known in (plain, rich):
        table = pair_table(known, IDS)
        write_table(table, name)
        assert read_pairs(name, IDS) == known
    assert list(pair_table(plain, IDS).columns) == ["a", "b", "kind"]


def test_what_constraints_saved_is_taken_and_no_file_is_left_open(folder):
    known = Constraints(4, [(0, 1)])
    known.save("p.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        assert read_pairs("p.csv", IDS) == known
        gc.collect()
    with pytest.raises(InvalidConstraints, match="speaks of 4 rows, the data has 3"):
        read_pairs("p.csv", IDS[:3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n", "needs columns a, b and kind"),
        ("a,b,kind\nann,zoe,must\n", "line 2: no row of the data has the id 'zoe'"),
        ("a,b,kind\nann,bob,maybe\n", "line 2: kind 'maybe' is not known"),
        ("a,b,kind\nann,ann,cannot\n", "line 2: 'ann' cannot be apart from itself"),
        ("a,b,kind,weight\nann,bob,must,-1\n", "line 2: weight '-1' must be a number 0 or more"),
    ],
)
def test_a_pair_that_cannot_be_used_is_named_by_its_line(text, message, folder):
    with pytest.raises(InvalidConstraints, match=message):
        read_pairs(pairs(text), IDS)


def test_pairs_that_cannot_be_kept_are_named_by_id(folder):
    both = pairs("a,b,kind,weight\nann,bob,must,inf\nbob,ann,cannot,inf\n")
    with pytest.raises(InfeasibleConstraints, match="ann ≠ bob, ann = bob") as caught:
        read_pairs(both, IDS)
    assert caught.value.conflict.n_pairs == 2
    triangle = Constraints(4, cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InfeasibleConstraints) as caught:
        triangle.check_feasible(2)
    named = name_conflict(caught.value, IDS, 2)
    assert "These 3 pairs cannot all be kept with 2 clusters: ann ≠ bob" in str(named)
    assert "raise `n_clusters`" in str(named)
    assert named.conflict == caught.value.conflict
