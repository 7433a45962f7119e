"""Models that were read from a folder: what is said when their parts do not fit together.

A checksum tells damage (`coterie.persistence`). What somebody wrote on purpose has the right sums,
and is found where it is used: an array of another shape, a number in the place of an array. Every
way to use a model that was read says so as `InvalidModel`, and names the folder.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from coterie.exceptions import CoterieError, InvalidModel

__all__ = ["guard_uses", "guarded", "mark_loaded"]

# A fit may go on from what was learned before (`warm_start`).
_USES = ("predict", "predict_proba", "transform", "score", "extend", "fit", "renumber_like")
#: What numbers clusters or groups, an entry for each row: what counts by it makes room up to the
#: largest, so that this is what a forged number could ask for.
_NUMBERS = ("labels_", "exclusive_")
_MOST = 1 << 20  # numbers that few rows may have: 8 MB where something is counted by them
_NOT_ITS_OWN = (CoterieError, MemoryError, NotFittedError, OSError, Warning)


def mark_loaded(model: Any, folder: str) -> None:
    """Remember where a model came from; a clone of it does not."""
    for name in _NUMBERS:
        _check_numbers(name, vars(model).get(name), folder)
    vars(model)["_loaded_from"] = folder


def _check_numbers(name: str, numbers: Any, folder: str) -> None:
    """Refuse numbers that no clusters or groups of so many rows have.

    Of the largest number there is, numpy's `bincount` makes room for none, and writes beyond it.
    """
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu" or not numbers.size:
        return
    largest = int(numbers.max())
    if largest >= max(numbers.size, _MOST):
        what = "cluster" if name == "labels_" else "group"
        raise InvalidModel(
            f"the model in {folder} was changed: {name} numbers a {what} {largest} for "
            f"{numbers.size} rows."
        )


def guard_uses(cls: type) -> None:
    """Let the methods of a class of ours that use a fitted model speak as this module says."""
    for name in _USES:
        found = vars(cls).get(name)
        if inspect.isfunction(found):  # what stands for a method of an estimator inside asks that
            setattr(cls, name, guarded(found))


def guarded(use: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which says of a model that was read from a folder if its parts do not fit."""

    @functools.wraps(use)
    def used(self: Any, *args: Any, **kwargs: Any) -> Any:
        folder = vars(self).get("_loaded_from")
        if folder is None:
            return use(self, *args, **kwargs)
        try:
            return use(self, *args, **kwargs)
        except _NOT_ITS_OWN:
            raise
        except Exception as error:  # whatever libraries and compiled code make of odd arrays
            raise InvalidModel(
                f"the model in {folder} was changed: its parts do not fit together "
                f"({type(error).__name__}: {error})."
            ) from error

    return used
