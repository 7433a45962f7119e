"""The name that was probably meant, and where warnings point."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from coterie import PPC, ConstrainedCompleteLink, Constraints, HMRFKMeans, Mosaic, PCKMeans
from coterie.exceptions import InvalidParameter
from coterie.words import nearest


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"metric": "KL"}, "kl"),
        ({"metric": "Cosine"}, "cosine"),
        ({"inference": "bp"}, "belief_propagation"),
        ({"inference": "LP"}, "linear_program"),
        ({"inference": "mf"}, "mean_field"),
    ],
)
def test_other_case_and_initials_are_understood(given, meant):
    with pytest.raises(InvalidParameter, match=f"Did you mean '{meant}'"):
        PCKMeans(2, **given).fit(np.eye(3))


def test_names_keep_their_case_and_what_is_like_nothing_is_not_guessed():
    assert nearest("rdpmeans", ["PCKMeans", "RDPMeans"]) == " Did you mean 'RDPMeans'?"
    assert nearest("zzz", ["PCKMeans", "RDPMeans"]) == ""
    assert nearest("", ["kl", "cosine"]) == ""
    with pytest.raises(InvalidParameter, match="Did you mean 'kl'"):
        HMRFKMeans(2, distortion="KL").fit(np.eye(3))


FAR = np.repeat(np.eye(3) * 9, 8, axis=0) + np.random.default_rng(0).normal(size=(24, 3))
SAME = np.ones((6, 2))
TIED = Constraints(3, must_link=[(0, 1)])


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda: PPC(3, max_iter=1, random_state=0).fit(FAR), "did not come to rest"),
        (lambda: Mosaic(4, random_state=0).fit(SAME), "found 1 clusters"),
        (lambda: ConstrainedCompleteLink(3).fit(FAR[:3], constraints=TIED), "2 groups"),
        (lambda: Constraints.from_arrays(2, [(0, 1)], [1], certainty=[0.5]), "say nothing"),
    ],
)
def test_a_warning_points_at_the_line_that_led_to_it_however_deep_it_arose(fit, words):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit()
    place = {warning.filename for warning in said if words in str(warning.message)}
    assert place == {__file__}, [str(warning.message) for warning in said]
