"""The name that was probably meant."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import HMRFKMeans, PCKMeans
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
