"""Rows that come as a stream of Arrow batches: relations of DuckDB, readers, lazy results."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from coterie.data.arrow_file import ArrowRows
from coterie.exceptions import InvalidData, MissingDependency, NotWritten

__all__ = ["TemporaryFile", "is_stream", "spooled"]


def is_stream(X: Any) -> bool:
    """Whether X offers its rows as Arrow batches only; frames in memory are arrays as well."""
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")


def spooled(X: Any, columns: Sequence[str] | None = None) -> SpooledRows:
    """The rows of a stream in a temporary Arrow file: a stream cannot be read from the middle.

    Batches go to the file as they come; it is removed when nothing reads it any more. Where it is
    put is Python's choice (the environment variable TMPDIR).
    """
    try:
        arrow = import_module("pyarrow")
    except ImportError as error:
        raise MissingDependency(
            "reading a stream needs pyarrow; install it with: pip install 'coterie[parquet]'."
        ) from error
    handle, name = tempfile.mkstemp(suffix=".arrow", prefix="coterie-")
    os.close(handle)
    file = TemporaryFile(Path(name))
    try:
        reader = arrow.RecordBatchReader.from_stream(X)
        with arrow.OSFile(name, "wb") as sink, arrow.ipc.new_file(sink, reader.schema) as writer:
            n = 0
            for batch in reader:
                writer.write_batch(batch)
                n += batch.num_rows
    except (arrow.ArrowException, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidData(
            f"the stream of {type(X).__name__} cannot be read ({reason}); make it again."
        ) from error
    except OSError as error:
        raise NotWritten(
            f"the rows of {type(X).__name__} could not be put into {name} ({error.strerror}); set "
            "TMPDIR to a folder with room for them."
        ) from error
    if not n:
        raise InvalidData(
            f"the stream of {type(X).__name__} has no row; one that was read before has nothing "
            "left: make it again."
        )
    return SpooledRows(file, columns)


class SpooledRows(ArrowRows):
    """Rows of a temporary file, which goes with the last of them."""

    def __init__(self, file: TemporaryFile, columns: Sequence[str] | None) -> None:
        super().__init__([file.path], columns)
        self.file = file


class TemporaryFile:
    """A file that is removed with the last reference to it in the process that made it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        weakref.finalize(self, path.unlink, missing_ok=True)

    def __reduce__(self) -> Any:
        return _elsewhere, ()  # who is sent the rows must not remove their file


def _elsewhere() -> None:
    """What stands for the file in another process."""
