"""The data sets and constraint sets of the PCCC study."""

from __future__ import annotations

import re

import numpy as np
from sklearn.utils import Bunch

from coterie.constraints import Constraints
from coterie.datasets._files import data_file, read_table
from coterie.exceptions import InvalidParameter

# The large sets are files of the data folder itself; their pairs count on its row order.
LARGE = ("banana", "letter", "shuttle", "mnist")


def load_pccc(name: str) -> Bunch:
    """A set of the PCCC study, ``pccc/col1/<set>``, ``pccc/col2/…`` or ``pccc/col3/…``.

    Raw features: the study standardises the columns. ``pccc/col1/ecoli`` has the corrupted digits
    of its source, as published; ``ecoli`` is the true one.
    """
    return read_table(f"{name}.csv.gz", load_pccc.__doc__ or "")


def _pairs_file(name: str) -> str:
    if name in LARGE:
        return f"col4_{name}"
    collection, _, short = name.removeprefix("pccc/").partition("/")
    if collection in ("col2", "col3"):  # the same pairs for every number of clusters and spread
        return f"{collection}_{re.split('-', short, maxsplit=1)[0]}"
    return f"{collection}_{short}"


def pccc_constraints(name: str, fraction: float, target: np.ndarray) -> Constraints:
    """A constraint set of the PCCC study: all pairs among a random `fraction` of the rows.

    Parameters
    ----------
    name : str
        "banana", "letter", "shuttle", "mnist", or a set of `available` that starts with "pccc/".
    fraction : float
        Which set: .005, .01, .05 (large sets), .05 … .20 (col1), .05 … .50 (col2, col3).
    target : ndarray of shape (n,)
        The classes, as `load(name)` gives them: a pair is a must-link iff its classes are equal.

    Returns
    -------
    Constraints
        Plain pairs of weight 1; `as_hard()` makes them hard, as the study has them.
    """
    target = np.asarray(target)
    with np.load(
        data_file(f"pccc/constraints/{_pairs_file(name)}.npz"), allow_pickle=False
    ) as stored:
        key = f"pairs_{fraction:g}"
        if key not in stored.files:
            offered = ", ".join(other.removeprefix("pairs_") for other in stored.files)
            raise InvalidParameter(f"{name} has no pairs for fraction={fraction}; use {offered}.")
        pairs = stored[key].astype(np.int64)
    same = target[pairs[:, 0]] == target[pairs[:, 1]]
    return Constraints.from_arrays(target.size, pairs, same)
