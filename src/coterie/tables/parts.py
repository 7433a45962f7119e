"""The parts of a recipe: a column of numbers, of categories or of vectors, or a whole matrix.

Each is a plain record of what was learned; `apply` gives the features and notes for the user.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.arrow import arrow_vectors
from coterie.tables.choices import Choices
from coterie.tables.notes import Note
from coterie.tables.summary import ColumnSummary, infinite_place, not_read, unread
from coterie.tables.table import Column, Table, values_of
from coterie.tables.totals import total_row

__all__ = [
    "CategoryPart",
    "MatrixPart",
    "NumberPart",
    "VectorPart",
    "missing_value",
    "no_value",
    "vectors_of",
]

_UNSEEN = "values not seen in fitting count as none of its categories"


@dataclass(frozen=True)
class NumberPart:
    """A column of numbers: (x − center) / spread.

    `fill` stands for missing ones; where it is None they are refused, or stay (NaN) if `gaps`.
    `form` says how numbers are written: "" plainly, else a format of `coterie.tables.formats`.
    """

    kind: ClassVar[str] = "number"
    column: str
    center: float = 0.0
    spread: float = 1.0
    fill: float | None = None
    form: str = ""
    gaps: bool = False

    @classmethod
    def learn(
        cls, source: str, summary: ColumnSummary, choices: Choices, form: str = ""
    ) -> NumberPart:
        """Mean and spread of the known values, as far as they are asked for."""
        name = summary.name
        tally = summary.read[form] if form else summary.plain
        known, gaps = tally.moments, choices.gaps and not choices.impute
        if tally.bad:
            raise unread(source, name, tally)
        if not (choices.scale or choices.impute):
            return cls(name, form=form, gaps=gaps)
        if summary.infinite is not None:
            raise InvalidData(summary.infinite)
        if not known.n:
            raise no_value(source, name)
        fill = known.mean if choices.impute else None
        if not choices.scale:
            return cls(name, 0.0, 1.0, fill, form, gaps)
        spread = known.spread if known.spread > 0 else 1.0
        return cls(name, known.mean, spread, fill, form, gaps)

    @property
    def feature_names(self) -> list[str]:
        return [self.column]

    @property
    def filling(self) -> str:
        """What is done about missing values, in words."""
        return "missing values stay so" if self.gaps else "missing values filled by the mean"

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        column = table.column(self.column)
        values, bad = column.read(self.form) if self.form else column.numbers
        if bad.size:
            raise InvalidData(not_read(table, column, bad, self.form))
        notes = []
        if not np.isfinite(values).all():
            bad_place = infinite_place(table, column, values)
            if bad_place is not None:
                raise InvalidData(bad_place)
            absent = np.isnan(values)
            if self.fill is None and not self.gaps:
                raise missing_value(table, column, absent)
            words = self.filling
            if self.fill is not None:
                values = np.where(absent, self.fill, values)
            notes.append(Note(self.column, int(absent.sum()), words))
        if self.center != 0.0 or self.spread != 1.0:
            values = (values - self.center) / self.spread
        return values.reshape(-1, 1), notes


@dataclass(frozen=True)
class CategoryPart:
    """A column of categories, one feature for each; a category not in the list gives zeros.

    So does an empty cell if `blank`: of a column with one value only, as boxes that are ticked or
    not, it says as much as the value does. A word such as NA says that nobody knows.
    """

    kind: ClassVar[str] = "category"
    column: str
    categories: list[str]
    fill: str | None = None
    blank: bool = False

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary, choices: Choices) -> CategoryPart:
        """The categories in sorted order, and the most frequent one where values may be missing."""
        name, counts = summary.name, summary.values
        if not counts:
            raise no_value(source, name)
        categories = sorted(counts)
        blank = summary.blank > 0 and counts.total() + summary.blank == summary.n_rows
        if len(categories) == 1 and blank:
            return cls(name, categories, blank=True)
        fill = max(categories, key=counts.__getitem__) if choices.impute else None
        return cls(name, categories, fill)

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.column}={category}" for category in self.categories]

    @property
    def filling(self) -> str:
        """What is done about missing values, in words."""
        if self.blank:
            return f"empty cells count as not {self.categories[0]!r}"
        return f"missing filled by {self.fill!r}"

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        column = table.column(self.column)
        texts = column.texts()
        absent = column.absent
        unknown = absent & ~column.empty if self.blank else absent
        notes = []
        if absent.any():
            if self.fill is None and unknown.any():
                raise missing_value(table, column, unknown)
            texts = np.where(absent, self.fill or "", texts)
            notes.append(Note(self.column, int(absent.sum()), self.filling))
        code_of = {category: code for code, category in enumerate(self.categories)}
        codes = np.fromiter((code_of.get(str(text), -1) for text in texts), np.int64, len(texts))
        known, unknown = codes >= 0, (codes < 0) & ~(absent & self.blank)
        if unknown.any():
            names = sorted({str(text) for text in texts[unknown]})
            notes.append(Note(self.column, int(unknown.sum()), _UNSEEN, names))
        features = np.zeros((len(codes), len(self.categories)))
        features[np.flatnonzero(known), codes[known]] = 1.0
        return features, notes


@dataclass(frozen=True)
class MatrixPart:
    """The matrix of an array file, (x − center) / spread; sparse ones are not centred."""

    kind: ClassVar[str] = "matrix"
    n_features: int
    center: list[float] | None = None
    spread: list[float] | None = None

    @classmethod
    def learn(cls, matrix: Any, scale: bool) -> MatrixPart:
        """Mean and spread of each column if `scale`."""
        if not scale:
            return cls(matrix.shape[1])
        from sklearn.preprocessing import StandardScaler

        dense = isinstance(matrix, np.ndarray)
        scaler = StandardScaler(with_mean=dense).fit(matrix)
        center = scaler.mean_.tolist() if dense else None
        return cls(matrix.shape[1], center, scaler.scale_.tolist())

    @property
    def feature_names(self) -> list[str]:
        return [f"x{j}" for j in range(self.n_features)]

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        matrix = table.matrix
        if matrix is None or matrix.shape[1] != self.n_features:
            found = "named columns" if matrix is None else f"{matrix.shape[1]} columns"
            raise InvalidData(
                f"{table.source} holds {found}; the model was fitted to an array file of "
                f"{self.n_features} columns."
            )
        if self.center is not None:
            matrix = matrix - np.array(self.center)
        if self.spread is not None:
            from scipy import sparse

            dense = isinstance(matrix, np.ndarray)
            scale = 1 / np.array(self.spread)
            matrix = matrix * scale if dense else (matrix @ sparse.diags(scale)).tocsr()
        return matrix, []


@dataclass(frozen=True)
class VectorPart:
    """A column with a vector of numbers in every row, used as they are."""

    kind: ClassVar[str] = "vector"
    column: str
    n_features: int

    @classmethod
    def learn(cls, table: Table, name: str) -> VectorPart:
        """The length of the vectors."""
        return cls(name, vectors_of(table, name).shape[1])

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.column}{j}" for j in range(self.n_features)]

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        values = vectors_of(table, self.column)
        if values.shape[1] != self.n_features:
            raise InvalidData(
                f"{table.source}: the vectors of column {self.column!r} have {values.shape[1]} "
                f"numbers; the model was fitted to vectors of {self.n_features}."
            )
        return values, []


def vectors_of(table: Table, name: str) -> Any:
    """The vectors of a column as (n, d); refuses lengths that differ and values that are none."""
    column = table.column(name)
    if not column.is_arrow and column.kind == "vector":
        values = column.values
    elif column.kind == "vector":
        values = arrow_vectors(column.values)
    else:
        values = _parsed_vectors(column)
    if values is None:
        raise InvalidData(
            f"{table.source}: column {name!r} is to hold a vector of the same length in every row, "
            "like [0.1, 0.2], without gaps; correct it, or leave the column out with `drop`."
        )
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if bad.size:
        raise InvalidData(
            f"{table.source}, {table.place(int(bad[0]))}: missing or infinite number in the vector "
            f"of column {name!r}; correct it or leave the row out."
        )
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _parsed_vectors(column: Column) -> Any:
    """Vectors that are written as texts; None if one is not."""
    try:
        read = values_of([json.loads(_in_brackets(text)) for text in column.texts() if text])
    except ValueError:
        return None
    return read if read.ndim == 2 and len(read) == len(column) else None


def _in_brackets(text: str) -> str:
    """(1, 2) and 48.1; 11.5 as [1, 2] and [48.1, 11.5]."""
    text = text.strip()
    return text if text.startswith("[") else f"[{text.strip('()').replace(';', ',')}]"


def no_value(source: str, name: str) -> InvalidData:
    """What to say of a column without any value."""
    return InvalidData(f"{source}: column {name!r} holds no value; leave it out with `drop`.")


def missing_value(table: Table, column: Column, absent: Any) -> InvalidData:
    """What to say of rows (n,) that hold no value."""
    rows = np.flatnonzero(absent)
    others = f" ({rows.size} such rows)" if rows.size > 1 else ""
    written = {text for text in column.texts()[rows] if text and not text.isspace()}
    word = (
        f" ({min(written)!r} is read so; if it is a value, set `missing` to '')" if written else ""
    )
    number = column.kind == "number" or not column.numbers.bad.size
    ppc = "; PPC (--method ppc) takes missing numbers as they are" if number else ""
    total = total_row(table, int(rows[0]))
    return InvalidData(
        f"{table.source}, {table.place(int(rows[0]))}: no value in column {column.name!r}{others}"
        f"{word}. {total}Fill it in, or fit with `impute`, or leave the column out with "
        f"`drop`{ppc}."
    )
