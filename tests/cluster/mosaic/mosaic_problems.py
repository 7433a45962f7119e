"""Small fields and problems for the tests of Mosaic's parts."""

from __future__ import annotations

import numpy as np

from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import FieldRidge, build_field, place_prototypes
from coterie.cluster.mosaic.problem import MosaicSettings, pose
from coterie.cluster.mosaic.space import fit_space
from coterie.cluster.mosaic.tuning import Tuning

TUNING = Tuning()


def small_field(rng, n=40, count=40):
    """Rows (n, 3) at random and the field of up to `count` prototypes among them."""
    rows = rng.normal(size=(n, 3)).astype(np.float32) / np.float32(np.sqrt(6.0))
    prototypes = place_prototypes(rows, count, TUNING, rng)
    return rows, build_field(rows, prototypes, TUNING.steepness)


def small_ridge(rng, n=40, weights=None, penalty=0.1, tuning=TUNING):
    """The ridge regression of a small field with a prototype at every row."""
    _, field = small_field(rng, n, n)
    return FieldRidge(field, np.ones(n) if weights is None else weights, penalty, tuning, rng)


def settings(tuning=TUNING, **changes):
    """The settings of `Mosaic()` for two clusters."""
    standard = {
        "n_clusters": 2,
        "max_clusters": None,
        "n_prototypes": 100,
        "may_be_blobs": False,
        "inference": "auto",
        "smoothness": 0.1,
        "n_init": 1,
        "max_iter": 25,
        "tol": 5e-4,
        "tuning": tuning,
    }
    return MosaicSettings(**{**standard, **changes})


def coordinates_of(X, distortion="sqeuclidean", most=50, weights=None):
    """The space of rows X and their coordinates in it."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    return fit_space(X, distortion, weights, most, TUNING.most_numbers, 0)


def posed(X, known, tuning=TUNING, **changes):
    """The problem of `known` pairs of rows X, to be trusted first, and the rows' coordinates."""
    _, coordinates = coordinates_of(X)
    chosen, evidence = settings(tuning, **changes), Evidence(known, tuning)
    noise, rng = evidence.first_noise(), np.random.default_rng(0)
    count, weights = chosen.n_prototypes, np.ones(len(X))
    return pose(coordinates, count, evidence, weights, noise, chosen, rng), coordinates
