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
_CLUSTERS = 1 << 20  # as many may have a number, however few rows there are
_NOT_ITS_OWN = (CoterieError, MemoryError, NotFittedError, OSError, Warning)


def mark_loaded(model: Any, folder: str) -> None:
    """Remember where a model came from; a clone of it does not."""
    _check_labels(vars(model).get("labels_"), folder)
    vars(model)["_loaded_from"] = folder


def _check_labels(labels: Any, folder: str) -> None:
    """Refuse labels that number no clusters: what counts by them would need room up to the largest.

    Of the largest number there is, numpy's `bincount` makes room for none, and writes beyond it.
    """
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iu" or not labels.size:
        return
    largest = int(labels.max())
    if largest >= max(labels.size, _CLUSTERS):
        raise InvalidModel(
            f"the model in {folder} was changed: labels_ numbers a cluster {largest} for "
            f"{labels.size} rows."
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
