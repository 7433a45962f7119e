"""The printed gradient step of the metric."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from coterie import HMRFKMeans
from coterie.constraints import sample_pairs
from coterie.exceptions import InvalidParameter

X, Y = load_iris(return_X_y=True)
KNOWN = sample_pairs(Y, 40, random_state=0)


@pytest.mark.parametrize("prior", ["rayleigh", None])
@pytest.mark.parametrize("distortion", ["sqeuclidean", "cosine", "kl"])
@pytest.mark.parametrize("eta", [0.08, 100.0])
def test_any_step_lowers_the_objective(distortion, eta, prior):
    model = HMRFKMeans(3, distortion=distortion, eta=eta, prior=prior, random_state=0)
    history = model.fit(X, constraints=KNOWN).objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    assert np.ptp(model.distortion_params_) > 0  # it was learned
    assert (model.distortion_params_ > 0).all()


@pytest.mark.parametrize("eta", ["atuo", 0, -1, None])
def test_other_values_are_refused(eta):
    with pytest.raises(InvalidParameter, match="eta"):
        HMRFKMeans(3, eta=eta).fit(X)
