"""Rows a stretch at a time: when `fit` and `predict` read so, and who does the work."""

from __future__ import annotations

import glob
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from coterie.cli._given import DataFile
from coterie.cli.methods import METHODS
from coterie.exceptions import InvalidParameter
from coterie.files import split_name
from coterie.words import counted

__all__ = ["FILES", "Reading", "engine_options", "how_to_read", "passes_by", "refuse_unless_reads"]

_SHARE = 4  # a file of more than one part in so many of the memory is read in stretches
_BYTES = 8  # of a number


class _Files(DataFile):
    """A file, a folder, or a pattern in quotes that some file matches; also the standard input."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The path as it was given; `how_to_read` puts files in the place of a pattern."""
        if glob.has_magic(str(value)) and not os.path.exists(value):
            if not _matches(value):
                self.fail(f"no file matches {str(value)!r}.", param, ctx)
            return Path(value)
        return super().convert(value, param, ctx)


FILES = _Files(stdin=True)


def engine_options(function: Any) -> Any:
    """--workers, --engine and --scratch."""
    workers = click.option(
        "--workers",
        metavar="N",
        type=click.IntRange(min=1),
        help="Read Parquet files a stretch at a time, by N processes.",
    )
    address = click.option(
        "--engine",
        "address",
        metavar="ADDRESS",
        help="Read them by the Dask cluster whose scheduler is at dask://HOST:PORT.",
    )
    scratch = click.option(
        "--scratch",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Write their numbers once to a temporary file in this folder, so that they are not "
        "decoded again in every step.",
    )
    return workers(address(scratch(function)))


class Reading(NamedTuple):
    """How rows are read.

    Attributes
    ----------
    paths : tuple of Path
    reason : str or None
        Why a stretch at a time, in words; None: into memory.
    asked : bool
        Whether the user's words mean it, and not the size of the file alone.
    """

    paths: tuple[Path, ...]
    reason: str | None = None
    asked: bool = True

    @property
    def name(self) -> str:
        """Of the data, for people."""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"{self.paths[0].name}{more}"

    def note(self) -> str:
        """The one line that says so."""
        return f"rows are read a stretch at a time ({self.reason})"


def how_to_read(
    data: Sequence[Path], workers: int | None = None, address: str | None = None
) -> Reading:
    """Several files, a folder, --workers, --engine or much beside the memory: in stretches."""
    from coterie.data.stored import paths_of

    paths = tuple(
        path
        for given in data
        for path in ([given] if split_name(given)[0].exists() else _matches(given))
    )
    if workers is not None and address is not None:
        raise InvalidParameter("give --workers or --engine, not both.")
    if address is not None:
        reason: str | None = f"by {address}"
    elif workers is not None:
        reason = f"by {counted(workers, 'process', 'processes')}"
    elif len(paths) > 1:
        reason = counted(len(paths), "file")
    elif paths[0].is_dir():
        paths_of(paths[0], ".parquet")  # refuses one without
        reason = f"{paths[0]} is a folder"
    else:
        reason = _too_large(paths[0])
        return Reading(paths, reason, asked=False)
    odd = next((path for path in paths if path.is_file() and path.suffix != ".parquet"), None)
    if odd is not None:
        raise InvalidParameter(
            f"{odd} is not a .parquet file, and only such are read a stretch at a time ({reason}). "
            "Write it as Parquet, or give it alone, without --workers and --engine."
        )
    return Reading(paths, reason)


def _matches(pattern: Any) -> list[Path]:
    """The files that a pattern matches, in the order of their names."""
    return [Path(path) for path in sorted(glob.glob(str(pattern), recursive=True))]


def refuse_unless_reads(estimator: Any, method: str, reading: Reading) -> Reading:
    """The reading that a method can do; where only the file's size spoke against memory, that."""
    from coterie.estimators import estimator_class, reads_stored_rows

    if reading.reason is None or reads_stored_rows(estimator):
        return reading
    if not reading.asked:
        return Reading(reading.paths)
    able = [name for name in METHODS if reads_stored_rows(estimator_class(name)())]
    raise InvalidParameter(
        f"--method {method} needs all rows in memory, and they are read a stretch at a time "
        f"({reading.reason}). Use --method {', '.join(able[:-1])} or {able[-1]}; or give one file "
        "that fits in memory, without --workers and --engine."
    )


@contextmanager
def passes_by(workers: int | None, address: str | None) -> Iterator[None]:
    """The passes over rows inside this block by processes, by a cluster, or by threads."""
    from coterie.data import ProcessEngine, engine

    if address is not None:
        from coterie.data.dask_engine import connect

        with connect(address) as client, engine(client):
            yield
    elif workers is not None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        # Ctrl-C reaches the whole group of processes; what it means is decided here.
        spawned = get_context("spawn")
        with (
            ProcessPoolExecutor(workers, mp_context=spawned, initializer=_leave_ctrl_c) as pool,
            engine(ProcessEngine(pool, workers)),
        ):
            yield
    else:
        yield


def _leave_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _too_large(path: Path) -> str | None:
    """Why a Parquet file is not read into memory, if so: its numbers beside the memory there is."""
    if path.suffix != ".parquet":
        return None
    from coterie.data.parquet import open_parquet
    from coterie.memory import memory_bytes

    with open_parquet(path) as file:
        about = file.metadata
        groups = range(about.num_row_groups)
        stored = sum(about.row_group(number).total_byte_size for number in groups)
        size = max(stored, about.num_rows * about.num_columns * _BYTES)
    memory = memory_bytes()
    if size * _SHARE <= memory:
        return None
    return f"about {size / 2**30:.1f} GB of {memory / 2**30:.1f} GB memory"
