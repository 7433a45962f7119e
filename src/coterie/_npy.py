"""Arrays from .npy streams that may be forged: nothing is unpickled, nothing large is believed."""

from __future__ import annotations

import math
from typing import Any, BinaryIO

import numpy as np

__all__ = ["load_npy"]

_KINDS = "biufcSU"  # booleans, numbers, text: what can be read without executing anything


def load_npy(stream: BinaryIO, size: int) -> np.ndarray:
    """The array in a seekable `stream` of `size` bytes.

    Raises
    ------
    ValueError
        Not an .npy file, Python objects in it, or a header that asks for other than the bytes
        that follow it; found before anything is allocated. The message follows a file name.
    """
    try:
        major, _ = np.lib.format.read_magic(stream)
        read: Any = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        shape, _, dtype = read[major](stream)
    except Exception as error:  # numpy parses the header as Python: of a forged one anything comes
        raise ValueError(f"is not an array file: {error}") from error
    if dtype.kind not in _KINDS:
        raise ValueError(
            f"holds {dtype}, which is not allowed: reading Python objects could run code; save "
            "numbers or text"
        )
    expected = math.prod(shape) * dtype.itemsize
    present = size - stream.tell()
    if min(shape, default=0) < 0 or expected != present:
        raise ValueError(
            f"declares {expected} bytes of data and holds {present}; the file is damaged or forged"
        )
    stream.seek(0)
    return np.asarray(np.load(stream, allow_pickle=False))
