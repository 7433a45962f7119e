"""Fresh searches of crowded components."""

from __future__ import annotations

import numpy as np

from coterie.inference import pairwise_model
from coterie.inference.icm import crowd_of, restart_crowd


def test_a_search_from_an_energy_of_zero_saves_all_of_it():
    # Three nodes in a row, each better off with the second label; the labels before cost nothing.
    unary = np.array([[0.0, -1.0], [0.0, -1.0], [0.0, -1.0]])
    indptr, indices = [0, 1, 3, 4], [1, 0, 2, 1]
    model = pairwise_model(unary, indptr, indices, same=np.zeros(4), differ=np.ones(4))
    crowd = crowd_of(model, np.zeros(3, dtype=np.int64))
    labels, saved = restart_crowd(model, crowd, np.zeros(3, dtype=np.int64), 0)
    assert labels.tolist() == [1, 1, 1]
    assert saved == 1.0
