"""Records from a CSV file: as text to show, and as numbers to cluster."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        The id of each record; its line number where no id column was named.
    values : list of list of str
    """

    fields: list[str]
    ids: list[str]
    values: list[list[str]]


def read_records(path: Path, id_column: str | None = None) -> Records:
    """Read a comma- or tab-separated file with a header, plain or gzipped."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="", encoding="utf-8-sig") as file:
        sample = file.read(4096)
        file.seek(0)
        tab = sample.split("\n", 1)[0].count("\t") > sample.split("\n", 1)[0].count(",")
        lines = list(csv.reader(file, delimiter="\t" if tab else ","))
    if len(lines) < 3:
        raise InvalidData(f"{path} holds fewer than two records below its header.")
    header, body = lines[0], [line for line in lines[1:] if line]
    for number, line in enumerate(body, start=2):
        if len(line) != len(header):
            raise InvalidData(
                f"{path}, record {number - 1}: {len(line)} values for {len(header)} columns."
            )
    if id_column is None:
        return Records(header, [str(t + 1) for t in range(len(body))], body)
    if id_column not in header:
        raise InvalidData(f"{path} has no column {id_column!r}; it has {', '.join(header)}.")
    at = header.index(id_column)
    ids = [line[at] for line in body]
    twice = next((value for value, count in Counter(ids).items() if count > 1), None)
    if twice is not None:
        raise InvalidData(f"{path}: the id {twice!r} is used twice; ids must differ.")
    return Records(
        header[:at] + header[at + 1 :], ids, [line[:at] + line[at + 1 :] for line in body]
    )


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
    try:
        column = np.array([float(value) if value.strip() else np.nan for value in values])
    except ValueError:
        return None
    known = column[np.isfinite(column)]
    if not known.size:
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
