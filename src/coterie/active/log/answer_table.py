"""The answers in force as a table: a frame, a CSV or a Parquet file."""

from __future__ import annotations

import csv
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from coterie.active.query import Answer
from coterie.files import new_file

__all__ = ["AnswerTable"]


class AnswerTable(ABC):
    """Whoever has answers in force, and writes them as tables."""

    @abstractmethod
    def answers(self) -> list[Answer]:
        """Answers in force: those not undone or retracted."""

    def to_frame(self, backend: str = "pandas") -> Any:
        """The answers in force, one a row: number, i, j, answer, certainty, annotator, ..."""
        from coterie.constraints.frames import make_frame

        return make_frame(self._columns(), backend)

    def _columns(self) -> dict[str, Any]:
        answers = self.answers()
        return {
            "number": np.array([a.number for a in answers], dtype=np.int64),
            "i": np.array([a.rows[0] for a in answers], dtype=np.int64),
            "j": np.array([a.rows[1] for a in answers], dtype=np.int64),
            "answer": np.array([a.answer for a in answers], dtype=np.str_),
            "certainty": np.array(
                [np.nan if a.certainty is None else a.certainty for a in answers], dtype=float
            ),
            "annotator": np.array([a.annotator or "" for a in answers], dtype=np.str_),
            "time": np.array([a.time for a in answers], dtype=np.str_),
            "phase": np.array([a.phase for a in answers], dtype=np.str_),
        }

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the answers in force as CSV, columns as in `to_frame`; whole or not at all."""
        columns = self._columns()
        with (
            new_file(Path(path)) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write `to_frame` as Parquet (needs the extra `parquet`); whole or not at all."""
        import pyarrow.parquet  # type: ignore[import-untyped]

        with new_file(Path(path)) as temporary:
            pyarrow.parquet.write_table(self.to_frame("pyarrow"), temporary)
