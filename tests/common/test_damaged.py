"""Sparse matrices with indices that lie outside them are refused before a kernel reads by them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from estimators import CASES
from sklearn.base import clone

from coterie import RCA, Constraints
from coterie.exceptions import CoterieError


def damaged(form: str, how: str) -> sp.spmatrix:
    whole = sp.random(40, 6, density=0.6, format="csr", random_state=0)
    X = whole.asformat(form).copy()
    if form == "coo":
        X.col[3] = {"beyond": 999, "negative": -7}[how]
    elif how == "pointer":
        X.indptr[1] = 10**6
    else:
        X.indices[0] = {"beyond": 99_999, "negative": -99_999}[how]
    return X


DAMAGE = [
    (form, how)
    for form in ("csr", "csc", "bsr", "coo")
    for how in ("beyond", "negative", "pointer")
    if (form, how) != ("coo", "pointer")
]
CHUNKS = Constraints(40, must_link=[(0, 1), (2, 3)])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(("form", "how"), DAMAGE)
def test_damaged_matrices_are_refused(case, form, how):
    with pytest.raises((CoterieError, TypeError), match=r"damaged|[Ss]parse"):
        clone(case.estimator).fit(damaged(form, how))


@pytest.mark.parametrize(("form", "how"), DAMAGE)
def test_damaged_matrices_are_refused_by_transformers(form, how):
    with pytest.raises((CoterieError, TypeError), match=r"damaged|[Ss]parse"):
        RCA().fit(damaged(form, how), constraints=CHUNKS)


def test_a_damaged_part_in_a_file_is_named(tmp_path):
    from coterie.data import open_rows

    sp.save_npz(tmp_path / "rows.npz", damaged("csr", "beyond"))
    with pytest.raises(CoterieError, match=r"rows\.npz is a damaged CSR matrix"):
        open_rows(tmp_path / "rows.npz").read(0, 40)


def test_whole_matrices_of_every_form_are_taken():
    from coterie import PCKMeans

    whole = sp.random(40, 6, density=0.6, format="csr", random_state=0)
    labels = [
        PCKMeans(2, random_state=0).fit(whole.asformat(form)).labels_
        for form in ("csr", "csc", "bsr", "coo", "lil", "dok")
    ]
    for other in labels[1:]:
        np.testing.assert_array_equal(labels[0], other)
