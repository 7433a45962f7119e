"""SciPy's solvers get indices that the oldest supported SciPy takes."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from coterie.sparse_indices import with_narrow_indices

SOURCE = Path(__file__).resolve().parents[1] / "src" / "coterie"
SOLVERS = {"milp", "minimum_spanning_tree"}
CALLERS = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if any(f"import {name}" in path.read_text(encoding="utf-8") for name in SOLVERS)
    or "LinearConstraint" in path.read_text(encoding="utf-8")
]


def test_the_same_matrix_with_indices_of_32_bits():
    row, column = np.array([0, 2, 2], np.int64), np.array([1, 0, 3], np.int64)
    wide = coo_array((np.array([5.0, 6.0, 7.0]), (row, column)), shape=(3, 4)).tocsr()
    narrow = with_narrow_indices(wide)
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32
    assert np.array_equal(narrow.toarray(), wide.toarray())


def test_a_matrix_too_wide_for_that_stays_as_it_is():
    wide = csr_array((np.ones(1), np.array([2**31]), np.array([0, 1])), shape=(1, 2**31 + 1))
    assert with_narrow_indices(wide) is wide


@pytest.mark.parametrize("path", CALLERS, ids=lambda path: path.name)
def test_every_caller_hands_over_such_a_matrix(path):
    """Newer SciPy takes both, so that only this and `make test-oldest` would tell."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    asked = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id in SOLVERS]
    narrowed = [c for c in calls if getattr(c.func, "id", "") == "with_narrow_indices"]
    assert len(asked) == len(narrowed) > 0
