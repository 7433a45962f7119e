"""Memory of large arrays that every iteration of a fit needs anew, kept for the next one.

The system gives new memory page by page and zeroes each page when it is first written to, which
can take longer than the pass that fills it: on a busy virtual machine 8 to 72 MB took 8 to 65 times
as long to write for the first time as for the second.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

__all__ = ["Scratch"]

_LEAST = 1 << 20  # bytes: smaller arrays come from memory that the process holds anyway


class Scratch:
    """Hands out arrays, and their memory again once nobody holds them or a part of them.

    What is not in use is given back with the scratch itself: it belongs to one fit. It never
    changes a result: like those of `np.empty`, the values of an array mean nothing.

    >>> scratch = Scratch()
    >>> scratch.empty((1000, 200), np.float64).shape
    (1000, 200)
    """

    def __init__(self) -> None:
        self._free: dict[int, np.ndarray[Any, Any]] = {}

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """An array to be filled, C-ordered."""
        wanted = math.prod(shape) * np.dtype(dtype).itemsize
        if wanted < _LEAST:
            return np.empty(shape, dtype)
        memory = self._memory(wanted)
        # Every view of this array keeps it alive, so it dies when no part of it is held any more.
        # (A view of an array made of another array would keep that one alive instead.)
        whole = np.frombuffer(memoryview(memory), np.uint8, count=wanted)
        weakref.finalize(whole, _give_back, weakref.ref(self), memory).atexit = False
        return whole.view(dtype).reshape(shape)

    def copy(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A copy of an array."""
        room = self.empty(array.shape, array.dtype)
        np.copyto(room, array)
        return room

    def _memory(self, wanted: int) -> np.ndarray[Any, Any]:
        """Memory of so many bytes or more, free if there is any, else new."""
        for key in list(self._free):  # memory may come back, or be taken, at any moment
            memory = self._free.get(key)
            if memory is None or not wanted <= memory.size <= 2 * wanted:
                continue
            if self._free.pop(key, None) is not None:
                return memory
        self._free.clear()  # of other sizes: the fit has come to something else
        return np.empty(wanted, np.uint8)


def _give_back(scratch: weakref.ref[Scratch], memory: np.ndarray[Any, Any]) -> None:
    """Keep memory whose array is gone, if the fit still runs; labels may outlive it."""
    owner = scratch()
    if owner is not None:
        owner._free[id(memory)] = memory
