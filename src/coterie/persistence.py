"""Models as a directory of JSON and .npy files: readable, stable, and nothing is executed.

``model.json`` holds the class name, the parameters and the fitted attributes (names that end in
"_"); every array is one .npy file beside it. Loading builds only public classes of Coterie and
classes the caller names, never unpickles, and compares each array's header with the size of its
file before it allocates anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie._encoding import INDEX, Reader, Writer
from coterie.exceptions import InvalidModel
from coterie.files import new_directory

__all__ = ["load", "save"]

FORMAT = "coterie-model"
FORMAT_VERSION = 1


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Save an estimator, fitted or not, as a directory.

    Parameters
    ----------
    model : estimator
        Any estimator of Coterie (or of scikit-learn's manners: `get_params`, fitted attributes
        that end in "_"). Fitted random generators are left out: the model is a result, not a run.
    path : path-like
        The directory to make. It appears complete or not at all.
    overwrite : bool, default False
        Replace a model that is already there. Anything else that is there is never replaced.

    Returns
    -------
    Path
        The directory.
    """
    target = Path(path)
    _check_target(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_directory(target) as work:
        index = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "coterie": __version__,
            "model": Writer(work).encode(model, "model"),
        }
        (work / INDEX).write_text(json.dumps(index, indent=1, allow_nan=False), encoding="utf-8")
    return target


def load(path: str | os.PathLike[str], *, trusted: Iterable[type] = ()) -> Any:
    """Load what `save` saved.

    Parameters
    ----------
    path : path-like
        The directory.
    trusted : iterable of classes
        Classes outside Coterie that the file may build, for example your own estimator.

    Returns
    -------
    estimator

    Raises
    ------
    InvalidModel
        Not a model directory, a later format, a class that is not allowed, a damaged array.
    """
    source = Path(path)
    try:
        return Reader(source, trusted).decode(_read_index(source)["model"])
    except RecursionError as error:
        raise InvalidModel(f"{source / INDEX} is nested too deeply.") from error


def _check_target(target: Path, overwrite: bool) -> None:
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise InvalidModel(f"{target} exists; choose another path or pass overwrite=True.")
    try:
        _read_index(target)
    except InvalidModel as error:
        raise InvalidModel(
            f"{target} exists and is not a saved model, so it is not replaced."
        ) from error


def _read_index(source: Path) -> dict[str, Any]:
    try:
        index = json.loads((source / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidModel(f"{source} is not a saved model: no readable {INDEX}.") from error
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise InvalidModel(f"{source / INDEX} does not describe a Coterie model.")
    if index.get("format_version") != FORMAT_VERSION or "model" not in index:
        raise InvalidModel(
            f"{source} has format version {index.get('format_version')!r}, this Coterie reads "
            f"{FORMAT_VERSION}; it was written by Coterie {index.get('coterie')!r}: use that one."
        )
    return index
