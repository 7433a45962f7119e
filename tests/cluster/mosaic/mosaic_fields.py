"""Small fields for the tests of Mosaic's parts."""

from __future__ import annotations

import numpy as np

from coterie.cluster.mosaic.field import build_field, place_prototypes


def small_field(rng, n=40, count=40):
    """Rows (n, 3) at random and the field of up to `count` prototypes among them."""
    rows = rng.normal(size=(n, 3)).astype(np.float32) / np.float32(np.sqrt(6.0))
    return rows, build_field(rows, place_prototypes(rows, count, rng))
