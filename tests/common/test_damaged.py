"""Sparse matrices with indices that lie outside them are refused before a kernel reads by them."""

from __future__ import annotations

from contextlib import suppress

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_damaged_matrices_are_refused_by_fitted_models(case, record_property):
    """Whatever is asked of them."""
    fitted = clone(case.estimator).fit(ROWS)
    tried = 0
    for use in ("predict", "transform", "predict_proba", "score", "extend"):
        for form, how in DAMAGE if hasattr(fitted, use) else ():
            with pytest.raises((CoterieError, TypeError), match=r"damaged|[Ss]parse"):
                getattr(fitted, use)(damaged(form, how))
            tried += 1
    record_property("tried", tried)


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


# -- labels that a fit begins with ------------------------------------------------------------
ROWS = np.random.default_rng(0).random((40, 3)) + np.eye(3)[np.arange(40) % 3]
STARTS = [case for case in CASES if {"init", "warm_start"} & set(case.estimator.get_params())]


def first_labels(how: str) -> np.ndarray:
    labels = np.arange(40) % 3
    if how == "halves":
        return labels + 0.5
    if how == "texts":
        return labels.astype(str)
    labels[7] = {"negative": -5, "beyond": 99_999, "enormous": 2**62}[how]
    return labels


def within(fitted) -> bool:
    """Whether every row has one of the clusters there are."""
    labels = fitted.labels_
    return labels.shape == (40,) and labels.min() >= 0 and labels.max() < 40


@pytest.mark.parametrize("case", STARTS, ids=lambda case: case.name)
@pytest.mark.parametrize("how", ["negative", "beyond", "enormous", "halves", "texts"])
@pytest.mark.filterwarnings("ignore::coterie.exceptions.CoterieWarning")
def test_labels_outside_the_clusters_are_no_index(case, how):
    """As `init`, in a fitted model given as `init`, and in one that goes on from itself."""
    labels = first_labels(how)
    takes = case.estimator.get_params()
    for init in (labels, _fitted_with(case, labels)) if "init" in takes else ():
        with suppress(CoterieError):
            assert within(clone(case.estimator).set_params(init=init).fit(ROWS))
    if "warm_start" in takes:
        again = _fitted_with(case, labels).set_params(warm_start=True)
        with suppress(CoterieError):
            assert within(again.fit(ROWS))


def _fitted_with(case, labels):
    """A fitted model with other labels, as of a folder that somebody has changed."""
    fitted = clone(case.estimator).fit(ROWS)
    fitted.labels_ = labels
    return fitted
