"""Distortions of all rows to some centres, block by block: for `predict` and for starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data import Rows
from coterie.distortions import Distortion

__all__ = ["distances_to"]

Array = NDArray[Any]


def distances_to(
    rows: Rows,
    centers: Array,
    distortion: Distortion,
    A: Array | None = None,
    row_term: bool = True,
) -> Array:
    """Distortions (n, K) of all rows to some centres; without the row term on request."""
    gaps = np.empty((rows.n, len(centers)), dtype=rows.dtype)
    terms = distortion.center_terms(centers.astype(rows.dtype), A)

    def fill(start: int, stop: int) -> None:
        for lo, hi, chunk in rows.chunks(start, stop, extra=len(centers)):
            part = distortion.cross(chunk, terms, distortion.row_scale(chunk, A))
            if row_term:
                part = np.maximum(part + distortion.row_term(chunk, A)[:, None], 0.0)
            gaps[lo:hi] = part

    rows.for_each(fill)
    return gaps
