"""Models as a directory of JSON and .npy files: readable, stable, and nothing is executed.

``model.json`` holds the class name, the parameters and the fitted attributes (names that end in
"_"); every array is one .npy file beside it. Loading builds only public classes of Coterie and
classes the caller names, never unpickles, and compares each array's header with the size of its
file before it allocates anything. Checksums of all of it ("sums") tell a damaged file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie._encoding import INDEX, Reader, Writer, sum_of_json
from coterie.exceptions import InvalidModel
from coterie.files import new_directory, plain_file
from coterie.parameters import check_arguments

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

    Raises
    ------
    InvalidModel
        Something is there already, or the model holds what cannot be saved.
    NotWritten
        The disk is full or cannot be written to; what was there is as it was.
    """
    check_arguments(save, locals())
    target = Path(path)
    _check_target(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_directory(target) as work:
        writer = Writer(work)
        content = writer.encode(model, "model")
        index = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "coterie": __version__,
            "model": content,
            "sums": writer.sums | {INDEX: sum_of_json(content)},
        }
        (work / INDEX).write_text(json.dumps(index, indent=1, allow_nan=False), encoding="utf-8")
    return target


def load(path: str | os.PathLike[str], *, trusted: Iterable[type] = ()) -> Any:
    """Load what `save` saved.

    Parameters
    ----------
    path : path-like
        The directory, or one that `coterie fit --save` or the studio wrote, which has it inside.
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
    check_arguments(load, locals())
    source = Path(path)
    inside = source / "model"
    if not (source / INDEX).exists() and (inside / INDEX).is_file():
        source = inside
    try:
        index = _read_index(source)
        _check_sum(source, index)
        return Reader(source, trusted, index.get("sums")).decode(index["model"])
    except RecursionError as error:
        raise InvalidModel(f"{source / INDEX} is nested too deeply.") from error


def _check_sum(source: Path, index: dict[str, Any]) -> None:
    """Refuse an index that is not as it was written; one of before 0.2.0 has no sums."""
    sums = index.get("sums")
    if sums is None:
        return
    if not isinstance(sums, dict) or sums.get(INDEX) != sum_of_json(index["model"]):
        raise InvalidModel(
            f"{source / INDEX} is damaged: its checksum is another one. If you changed it on "
            'purpose, take "sums" out of it.'
        )


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
        index = json.loads(plain_file(source / INDEX).read_text(encoding="utf-8"))
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
