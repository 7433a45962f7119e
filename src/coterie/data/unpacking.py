"""Rows copied once to a plain file, so that the passes that follow need not decode them again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from coterie.data.npy import NpyRows
from coterie.data.passes import map_blocks
from coterie.data.rows import Block, Rows
from coterie.data.stored import StoredRows
from coterie.data.stream import TemporaryFile
from coterie.exceptions import InvalidData, InvalidParameter, NotWritten
from coterie.parameters import check_arguments

__all__ = ["UnpackedRows", "unpacked"]


def unpacked(rows: StoredRows, folder: str | os.PathLike[str]) -> UnpackedRows:
    """The same rows in a temporary file of plain numbers, read as fast as the disk gives them.

    Decoding Parquet takes about as long as an iteration of K-Means, and making features of text or
    categories takes longer; a fit does so in every pass. One pass writes the rows down, n · d
    numbers of 4 or 8 bytes, and whatever is fitted to them has the same bits, sooner. The file is
    removed when nothing reads it any more.

    Parameters
    ----------
    rows : StoredRows
        Dense, as from `open_rows` or `open_table(...).rows(recipe)`.
    folder : path
        Where the file is put: on a disk with room for it, not in memory (as /tmp may be), and one
        that workers can reach, if a cluster works on the rows.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from coterie.data import open_rows, unpacked
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.save(folder / "rows.npy", np.arange(6).reshape(3, 2))
    >>> unpacked(open_rows(folder / "rows.npy"), folder).read(1, 3)
    array([[2., 3.],
           [4., 5.]])
    """
    check_arguments(unpacked, locals())
    if rows.is_sparse:
        raise InvalidData("unpacked() takes dense rows; sparse parts are read as they are.")
    if not Path(folder).is_dir():
        raise InvalidParameter(f"folder={str(folder)!r} is no folder; make it first.")
    handle, name = tempfile.mkstemp(suffix=".npy", prefix="coterie-", dir=folder)
    file = TemporaryFile(Path(name).absolute())
    try:
        with os.fdopen(handle, "wb") as sink:
            head = {"descr": rows.dtype.str, "fortran_order": False, "shape": rows.shape}
            np.lib.format.write_array_header_1_0(sink, head)
            for block in map_blocks(Rows(rows), _as_read, None):
                sink.write(block)
    except OSError as error:
        raise NotWritten(
            f"the rows could not be put into {name} ({error.strerror}); name a folder with room "
            f"for {rows.n * rows.d * rows.dtype.itemsize / 1e9:.1f} GB."
        ) from error
    return UnpackedRows(file, rows)


def _as_read(block: Block, _: None) -> memoryview:
    return np.ascontiguousarray(block.rows).data


class UnpackedRows(NpyRows):
    """Rows of a temporary file, which goes with the last of them; a row is named by its origin."""

    def __init__(self, file: TemporaryFile, origin: StoredRows) -> None:
        super().__init__(file.path)
        self.file, self.origin = file, origin
        self.names = origin.names

    def place(self, row: int) -> str:
        """Where the row was read."""
        return self.origin.place(row)

    def cut(self, start: int, stop: int) -> UnpackedRows:
        """Rows start..stop, and where they were read."""
        part = super().cut(start, stop)
        part.origin = self.origin.cut(start, stop)
        return part
