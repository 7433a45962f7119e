"""Records to ask about: as text to show, and as numbers to cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coterie.cli._reading import read_table
from coterie.cli._table import Column
from coterie.exceptions import InvalidData

__all__ = ["Records", "read_records", "to_numbers"]

_TEXT_COORDINATES = 50


@dataclass(frozen=True)
class Records:
    """Rows of a file, as text.

    Attributes
    ----------
    fields : list of str
        Names of the columns that are shown and clustered (without the id).
    ids : list of str
        The id of each record; its row number, from 0, where no id column was named.
    values : list of list of str
    """

    fields: list[str]
    ids: list[str]
    values: list[list[str]]


def read_records(path: Path, id_column: str | None = None) -> Records:
    """The columns of a table as text."""
    table = read_table(path)
    if table.matrix is not None:
        raise InvalidData(f"{path} is an array file; asking needs named columns to show.")
    if table.n_rows < 2:
        raise InvalidData(f"{path} holds fewer than two records.")
    ids = list(table.ids(id_column))
    shown = [column for name, column in table.columns.items() if name != id_column]
    columns = [[text or "" for text in column.texts()] for column in shown]
    values = [list(row) for row in zip(*columns, strict=True)] or [[] for _ in ids]
    return Records([column.name for column in shown], ids, values)


def to_numbers(records: Records) -> NDArray[np.float64]:
    """Numeric columns standardised, text by its three-letter pieces; (n, d), one scale for both.

    A missing number becomes the column's mean. Text columns are joined, counted in pieces of
    letters (tf-idf) and reduced to at most 50 coordinates.
    """
    columns = list(zip(*records.values, strict=True))
    numbers, texts = [], []
    for values in columns:
        column = _as_numbers(values)
        if column is None:
            texts.append(values)
        else:
            numbers.append(column)
    parts = []
    if numbers:
        table = np.column_stack(numbers)
        spread = table.std(axis=0)
        parts.append((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    if texts:
        parts.append(_text_coordinates([" ".join(words) for words in zip(*texts, strict=True)]))
    if not parts:
        raise InvalidData("there is no column to cluster by besides the id.")
    # Each kind of column counts the same, however many coordinates it has.
    return np.hstack([part / max(np.sqrt((part**2).sum(axis=1).mean()), 1e-12) for part in parts])


def _as_numbers(values: tuple[str, ...]) -> NDArray[np.float64] | None:
    """The column as numbers, missing ones by the mean; None if some value is no number."""
    texts = np.empty(len(values), dtype=object)
    texts[:] = values
    column, bad = Column("", texts).numbers
    known = column[np.isfinite(column)]
    if bad.size or not known.size:
        return None
    return np.where(np.isfinite(column), column, known.mean())


def _text_coordinates(texts: list[str]) -> NDArray[np.float64]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        counts = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(texts)
    except ValueError:  # only empty fields
        return np.zeros((len(texts), 1))
    wanted = min(_TEXT_COORDINATES, min(counts.shape) - 1)
    if wanted < 1:
        return np.asarray(counts.toarray())
    return np.asarray(TruncatedSVD(wanted, random_state=0).fit_transform(counts))
