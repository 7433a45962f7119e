"""The parts of a recipe: a column of numbers, of categories or of text, or a whole matrix.

Each is a plain record of what was learned; `apply` gives the features and notes for the user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.notes import Note
from coterie.tables.summary import ColumnSummary, documents, infinite_place, not_a_number
from coterie.tables.table import Column, Table, missing

if TYPE_CHECKING:
    from coterie.tables.recipe import Choices

__all__ = ["PARTS", "CategoryPart", "MatrixPart", "NumberPart", "Part", "TextPart", "learn_part"]

_LEAST_CATEGORIES, _MOST_CATEGORIES = 20, 100
_UNSEEN = "values not seen in fitting count as none of its categories"


@dataclass(frozen=True)
class NumberPart:
    """A column of numbers: (x − center) / spread; `fill` stands for missing ones, None refuses."""

    kind: ClassVar[str] = "number"
    column: str
    center: float = 0.0
    spread: float = 1.0
    fill: float | None = None

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary, choices: Choices) -> NumberPart:
        """Mean and spread of the known values, as far as they are asked for."""
        name, known = summary.name, summary.moments
        if not (choices.scale or choices.impute):
            return cls(name)
        if summary.infinite is not None:
            raise InvalidData(summary.infinite)
        if not known.n:
            raise _no_value(source, name)
        fill = known.mean if choices.impute else None
        if not choices.scale:
            return cls(name, fill=fill)
        return cls(name, known.mean, known.spread if known.spread > 0 else 1.0, fill)

    @property
    def feature_names(self) -> list[str]:
        return [self.column]

    @property
    def filling(self) -> str:
        """What is done about missing values, in words."""
        return "missing values filled by the mean"

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        column = table.column(self.column)
        values, bad = column.numbers
        if bad.size:
            raise InvalidData(not_a_number(table, column, bad))
        notes = []
        if not np.isfinite(values).all():
            bad_place = infinite_place(table, column, values)
            if bad_place is not None:
                raise InvalidData(bad_place)
            absent = np.isnan(values)
            if self.fill is None:
                raise _missing(table, column, absent)
            values = np.where(absent, self.fill, values)
            notes.append(Note(self.column, int(absent.sum()), self.filling))
        if self.center != 0.0 or self.spread != 1.0:
            values = (values - self.center) / self.spread
        return values.reshape(-1, 1), notes


@dataclass(frozen=True)
class CategoryPart:
    """A column of categories, one feature for each; a category not in the list gives zeros."""

    kind: ClassVar[str] = "category"
    column: str
    categories: list[str]
    fill: str | None = None

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary, choices: Choices) -> CategoryPart:
        """The categories in sorted order, and the most frequent one where values may be missing."""
        name, counts = summary.name, summary.values
        limit = min(_MOST_CATEGORIES, max(_LEAST_CATEGORIES, summary.n_rows // 2))
        if len(counts) > limit and name not in choices.categorical:
            raise InvalidData(
                f"{source}: column {name!r} holds {summary.different} different texts. "
                "Leave it out with `drop`, name it in `id_column` or `text`, or insist with "
                "`categorical`."
            )
        if not counts:
            raise _no_value(source, name)
        categories = sorted(counts)
        fill = max(categories, key=counts.__getitem__) if choices.impute else None
        return cls(name, categories, fill)

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.column}={category}" for category in self.categories]

    @property
    def filling(self) -> str:
        """What is done about missing values, in words."""
        return f"missing filled by {self.fill!r}"

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        column = table.column(self.column)
        texts = column.texts()
        absent = missing(texts)
        notes = []
        if absent.any():
            if self.fill is None:
                raise _missing(table, column, absent)
            texts = np.where(absent, self.fill, texts)
            notes.append(Note(self.column, int(absent.sum()), self.filling))
        code_of = {category: code for code, category in enumerate(self.categories)}
        codes = np.fromiter((code_of.get(str(text), -1) for text in texts), np.int64, len(texts))
        unknown = codes < 0
        if unknown.any():
            names = sorted({str(text) for text in texts[unknown]})
            notes.append(Note(self.column, int(unknown.sum()), _UNSEEN, names))
        features = np.zeros((len(codes), len(self.categories)))
        features[np.flatnonzero(~unknown), codes[~unknown]] = 1.0
        return features, notes


@dataclass(frozen=True)
class TextPart:
    """A column of text by its words: tf-idf (n, words), CSR, rows of length 1."""

    kind: ClassVar[str] = "text"
    column: str
    words: list[str]
    idf: list[float]

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary) -> TextPart:
        """The words that occur in two rows at least: others cannot bring rows together.

        Weighted as scikit-learn's `TfidfVectorizer` does: log((1 + n) / (1 + rows with it)) + 1.
        """
        words = sorted(word for word, rows in summary.words.items() if rows > 1)
        if not words:
            raise InvalidData(f"{source}: no word of column {summary.name!r} occurs in two rows.")
        rows = np.array([summary.words[word] for word in words], dtype=np.float64)
        idf = np.log((1 + summary.n_rows) / (1 + rows)) + 1.0
        return cls(summary.name, words, idf.tolist())

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.column}:{word}" for word in self.words]

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.idf)
        X = vectorizer.transform(documents(table.column(self.column)))
        empty = int((np.diff(X.indptr) == 0).sum())
        notes = [Note(self.column, empty, "rows hold none of the words")] if empty else []
        return X, notes


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


Part = NumberPart | CategoryPart | TextPart | MatrixPart
PARTS: dict[str, Any] = {
    part.kind: part for part in (NumberPart, CategoryPart, TextPart, MatrixPart)
}


def learn_part(source: str, summary: ColumnSummary, choices: Choices) -> Part:
    """The part a column calls for: as the user says, else numbers if they are numbers."""
    name = summary.name
    if name == choices.text:
        return TextPart.learn(source, summary)
    if name in choices.categorical:
        return CategoryPart.learn(source, summary, choices)
    if summary.kind == "other":
        raise InvalidData(
            f"{source}: column {name!r} holds neither numbers nor text; leave it out with "
            "`drop`, or turn it into numbers first."
        )
    if not summary.bad:
        return NumberPart.learn(source, summary, choices)
    mostly_numbers = summary.began_as_numbers or summary.moments.n > summary.bad
    if mostly_numbers:  # more likely a slip than a category
        assert summary.first_bad is not None
        raise InvalidData(summary.first_bad)
    return CategoryPart.learn(source, summary, choices)


def _no_value(source: str, name: str) -> InvalidData:
    return InvalidData(f"{source}: column {name!r} holds no value; leave it out with `drop`.")


def _missing(table: Table, column: Column, absent: Any) -> InvalidData:
    rows = np.flatnonzero(absent)
    others = f" ({rows.size} such rows)" if rows.size > 1 else ""
    return InvalidData(
        f"{table.source}, {table.place(int(rows[0]))}: no value in column {column.name!r}{others}. "
        "Fill it in, or fit with `impute`, or leave the column out with `drop`."
    )
