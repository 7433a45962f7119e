"""Where data files live, and how they are read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from coterie.exceptions import MissingData

ENVIRONMENT_VARIABLE = "COTERIE_DATA"


def data_home() -> Path:
    """The folder of data files that do not come with a package.

    The environment variable ``COTERIE_DATA``, or else ``../shared/data`` beside the current
    folder, or beside the source tree Coterie was installed from. It need not exist.
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Path(named).expanduser()
    beside_cwd = Path.cwd().parent / "shared" / "data"
    beside_source = Path(__file__).resolve().parents[4] / "shared" / "data"
    return beside_source if beside_source.is_dir() and not beside_cwd.is_dir() else beside_cwd


def data_file(relative: str) -> Path:
    """Path of a file under `data_home`; `MissingData` says where to put it if it is not there."""
    path = data_home() / relative
    if not path.is_file():
        raise MissingData(
            f"The data file {relative!r} is not in {data_home()}. Put it there, or set the "
            f"environment variable {ENVIRONMENT_VARIABLE} to the folder that holds it."
        )
    return path


def encode(values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """Class names to numbers 0..k-1, in numeric order where the names are numbers."""
    names, target = np.unique(np.asarray(values).astype(str), return_inverse=True)
    try:
        order = np.argsort(names.astype(float), kind="stable")
    except ValueError:  # names, not numbers: alphabetical
        return target.astype(np.int64), names
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return rank[target].astype(np.int64), names[order]


def read_table(relative: str, description: str) -> Bunch:
    """A gzipped CSV with a header, numeric columns and a last column `class`."""
    path = data_file(relative)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        header = next(lines).strip().split(",")
        rows = [line.strip().rsplit(",", 1) for line in lines if line.strip()]
    data = np.loadtxt([row[0] for row in rows], delimiter=",", ndmin=2)
    target, names = encode([row[1] for row in rows])
    return Bunch(
        data=data,
        target=target,
        target_names=names,
        feature_names=header[:-1],
        DESCR=description,
    )


def take(bunch: Bunch, rows: NDArray, description: str) -> Bunch:
    """The same set restricted to `rows`, classes renumbered to those that are left."""
    kept, target = np.unique(bunch.target[rows], return_inverse=True)
    part = Bunch(**bunch)
    part.update(
        data=bunch.data[rows],
        target=target.astype(np.int64),
        target_names=np.asarray(bunch.target_names)[kept],
        DESCR=description,
    )
    return part


def sample_of_classes(
    bunch: Bunch, classes: list[str], size: int | None, description: str
) -> Bunch:
    """Rows of the named classes, the first `size` of ``default_rng(0).permutation`` of them."""
    names = np.asarray(bunch.target_names).astype(str)
    rows = np.flatnonzero(np.isin(names[bunch.target], classes))
    if size is not None:
        rows = np.random.default_rng(0).permutation(rows)[:size]
    return take(bunch, rows, description)
