"""Finished cells on disk: the rows in one table, one line a cell in a log beside it.

`results.<profile>.csv.gz` holds what was measured, `cells.<profile>.csv.gz` when, by which version,
on which machine, and how long it took. A cell counts as finished once its line is in the log, which
is written after its rows: an interruption leaves rows without a line or half a line, and both are
dropped when the files are next opened.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import date
from pathlib import Path

import pandas as pd

import coterie
from lab import tables
from lab.study import BadStudy, Cell, Study
from lab.tables import Row

LOG = ["cell", "digest", "seed", "rows", "seconds", "version", "commit", "date", "machine"]


class Store:
    """Results of one study under one profile."""

    def __init__(self, study: Study, profile: str) -> None:
        self.study = study
        self.table = study.folder / f"results.{profile}.csv.gz"
        self.log = study.folder / f"cells.{profile}.csv.gz"
        self._stamp = [coterie.__version__, commit(), date.today().isoformat()]

    def tidy(self, cells: list[Cell]) -> set[str]:
        """Make the files whole; the keys of `cells` that need not run again.

        Called before a run adds to them, and after it: rows that were added one cell at a time
        take less room in one piece. Cells that ran with other constants, or that the config no
        longer asks for, are dropped.
        """
        wanted = {cell.key: cell.digest for cell in cells}
        log = [
            line
            for line in tables.read(self.log, LOG)
            if wanted.get(line["cell"]) == line["digest"]
        ]
        done = {line["cell"]: int(line["rows"]) for line in log}
        rows: dict[str, list[Row]] = {key: [] for key in done}
        for row in tables.read(self.table, self.study.columns):
            key = self._key(row)
            if key in rows:
                rows[key].append(row)
        complete = {key for key, count in done.items() if len(rows[key]) == count}
        kept = [row for key in done if key in complete for row in rows[key]]
        tables.replace(self.table, self.study.columns, kept)
        tables.replace(self.log, LOG, [line for line in log if line["cell"] in complete])
        return complete

    def add(self, cell: Cell, rows: list[Row], seconds: float) -> None:
        """Append the rows of a finished cell, then its line in the log."""
        full = [{**cell.identity(), **row} for row in rows]
        for row in full:
            unknown = row.keys() - set(self.study.columns)
            if unknown:
                raise BadStudy(
                    f"{self.study.name}: a row of {cell.key} has {sorted(unknown)}, which "
                    "config.toml names neither in keys nor in scores"
                )
        line = [cell.key, cell.digest, cell.seed, len(rows), f"{seconds:.1f}", *self._stamp]
        tables.append(self.table, self.study.columns, full)
        tables.append(self.log, LOG, [dict(zip(LOG, [*line, machine()], strict=True))])

    def frame(self) -> pd.DataFrame:
        """The finished rows; empty if there are none."""
        if not self.table.exists() or not self.log.exists():
            return pd.DataFrame(columns=self.study.columns)
        finished = {line["cell"] for line in tables.read(self.log, LOG)}
        rows = [
            row for row in tables.read(self.table, self.study.columns) if self._key(row) in finished
        ]
        frame = pd.DataFrame(rows, columns=self.study.columns)
        for column in self.study.columns:
            score = column in self.study.config["scores"]
            frame[column] = pd.to_numeric(frame[column]) if score else _numbers(frame[column])
        return frame

    def provenance(self) -> list[Row]:
        """The log's lines."""
        return tables.read(self.log, LOG)

    def _key(self, row: Row) -> str:
        axes = self.study.config["parts"].get(row["part"], {}).get("axes", {})
        return "|".join([row["part"], *(row[axis] for axis in axes), row["draw"]])


def _numbers(column: pd.Series) -> pd.Series:
    """Numbers where every entry that is not empty is one; a column of nothing may be compared."""
    filled = column[column != ""]
    if not len(filled):
        return pd.Series(float("nan"), index=column.index)
    try:
        pd.to_numeric(filled)
    except ValueError:
        return column
    return pd.to_numeric(column.replace("", None))


def commit() -> str:
    """The short hash of the library's commit, "+" if it has changes; "unknown" without git."""
    library = Path(coterie.__path__[0])
    try:
        short_hash = _git(library, "rev-parse", "--short", "HEAD")
        changed = _git(library, "status", "--porcelain", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return short_hash + ("+" if changed else "")


def _git(folder: Path, *command: str) -> str:
    answer = subprocess.run(
        ["git", "-C", str(folder), *command], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


def machine() -> str:
    """Cores and memory, as "2 cores, 16 GB"; memory is left out where it cannot be asked for."""
    size = f"{os.cpu_count()} cores"
    if platform.system() == "Linux":
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        size += f", {memory / 2**30:.0f} GB"
    return size
