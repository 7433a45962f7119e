"""Records of a table as they are looked at and searched, without a copy of the table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidParameter
from coterie.tables.table import Table

__all__ = ["FieldValue", "Found", "RecordView"]

_AT_ONCE = 1 << 14  # rows searched at a time
_ENOUGH = 2000  # hits that are ordered; a search that has more says so
_SAMPLE = 1000  # rows that tell how far the numbers of a column are apart
_QUARTILES = 1.349  # of a normal distribution, in standard deviations
_DIGITS = 7  # of a number that was computed, not written
_IMAGE = re.compile(
    r"data:image/(png|jpeg|gif|webp|avif|bmp);|.*\.(png|jpe?g|gif|webp|avif|bmp)$", re.IGNORECASE
)


class FieldValue(NamedTuple):
    """One field of a record: its text, and "text", "number" or "image"."""

    name: str
    value: str
    kind: str


class Found(NamedTuple):
    """What a search found.

    Attributes
    ----------
    rows : list of int
        The best first.
    more : bool
        Whether there are others.
    scanned : int
        Rows that were looked at.
    """

    rows: list[int]
    more: bool
    scanned: int


@dataclass(frozen=True)
class RecordView:
    """The fields of a table that people look at.

    Attributes
    ----------
    table : Table
    ids : sequence of str
    fields : list of str
    numbers : frozenset of str
        Fields that are numbers, also where the file holds them as text.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.tables import RecordView, Table
    >>> names = np.array(["Ann Lée", "Bob Ray", "Ann Ray"], dtype=object)
    >>> view = RecordView(Table.of("t", {"name": names}), ["1", "2", "3"], ["name"])
    >>> view.search("lee ANN").rows, view.search("ray", limit=1)
    ([0], Found(rows=[1], more=True, scanned=3))
    >>> view.record(1)
    [FieldValue(name='name', value='Bob Ray', kind='text')]
    """

    table: Table
    ids: Sequence[str]
    fields: list[str]
    numbers: frozenset[str] = frozenset()

    def record(self, row: int, most: int | None = None) -> list[FieldValue]:
        """The fields of a row, or the first `most` of them."""
        return [FieldValue(name, *self._value(name, row)) for name in self.fields[:most]]

    def spread(self, name: str) -> float | None:
        """How far apart the numbers of a field usually are: their quartiles, as those of a normal.

        Of at most 1,000 rows. None of texts, and of numbers most of which are equal.
        """
        if name not in self._spreads:
            self._spreads[name] = self._spread(name)
        return self._spreads[name]

    @cached_property
    def _spreads(self) -> dict[str, float | None]:
        return {}

    def _spread(self, name: str) -> float | None:
        column = self.table.columns[name]
        if column.kind != "number" and name not in self.numbers:
            return None
        rows = np.unique(np.linspace(0, self.table.n_rows - 1, _SAMPLE).astype(int)).tolist()
        found = np.array([_number(column.cells(row, row + 1)[0]) for row in rows])
        found = found[np.isfinite(found)]
        if not found.size:
            return None
        low, high = np.quantile(found, (0.25, 0.75))
        return float(high - low) / _QUARTILES or None

    def _value(self, name: str, row: int) -> tuple[str, str]:
        column = self.table.columns[name]
        cell = column.cells(row, row + 1)[0]
        text = "" if cell is None or cell != cell else str(cell)
        if column.kind == "number" or name in self.numbers:
            return _short(text) if column.kind == "number" else text, "number"
        return text, "image" if _IMAGE.match(text) else "text"

    def image(self, row: int, field: str, folder: Path) -> Path | None:
        """The file that a field names, if it is an image that stands inside the folder."""
        if field not in self.fields or not 0 <= row < self.table.n_rows:
            return None
        text, kind = self._value(field, row)
        if kind != "image" or text.startswith("data:") or "\0" in text:
            return None
        base = folder.resolve()
        path = (base / text).resolve()
        return path if path.is_relative_to(base) and path.is_file() else None

    def search(
        self,
        words: str,
        limit: int = 20,
        *,
        among: NDArray[np.bool_] | None = None,
        without: Sequence[int] = (),
    ) -> Found:
        """Rows that hold all of the words in their id or fields; case and accents do not matter.

        Those whose id is the text come first, then those that hold it in one piece, then by how
        short they are: the best match has little else in it.

        Parameters
        ----------
        words : str
        limit : int, default=20
        among : (n,) bool, optional
            Only these rows.
        without : sequence of int
            Rows that are left out.
        """
        if limit < 1:
            raise InvalidParameter(f"limit={limit} must be at least 1.")
        whole = _plain(words).strip()
        parts = whole.split()
        left_out = set(without)
        hits: list[tuple[int, int, int]] = []
        scanned = 0
        for start, texts in self._texts() if parts else ():
            for row, text in enumerate(texts, start):
                if among is not None and not among[row]:
                    continue
                if row not in left_out and all(part in text for part in parts):
                    hits.append((_rank(text, whole), len(text), row))
            scanned = start + len(texts)
            if len(hits) > _ENOUGH:
                break
        hits.sort()
        more = len(hits) > limit or (scanned < self.table.n_rows and bool(parts))
        return Found([row for _, _, row in hits[:limit]], more, scanned)

    def _texts(self) -> Iterator[tuple[int, list[str]]]:
        """First row of a stretch, and id and fields of its rows as plain texts."""
        for start in range(0, self.table.n_rows, _AT_ONCE):
            stop = min(start + _AT_ONCE, self.table.n_rows)
            columns = [self.ids[start:stop]]
            columns += [self.table.columns[name].cells(start, stop) for name in self.fields]
            yield (
                start,
                [
                    _plain("\n".join("" if v is None else str(v) for v in values))
                    for values in zip(*columns, strict=True)
                ],
            )


def _number(cell: object) -> float:
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def _plain(text: str) -> str:
    """Without case and accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _rank(text: str, whole: str) -> int:
    if text.partition("\n")[0] == whole:
        return 0
    return 1 if whole in text else 2


def _short(text: str) -> str:
    """A number of a frame as a person would write it: 3.0 is 3, of a long fraction 7 digits are.

    >>> _short("3.0"), _short("-0.07570152622082311"), _short("12345678.25"), _short("1e-30")
    ('3', '-0.07570153', '12345678.25', '1e-30')
    """
    whole, _, fraction = text.partition(".")
    if not fraction.isdigit() or len(whole.lstrip("-0") + fraction) <= _DIGITS + 3:
        return text.removesuffix(".0")
    digits = max(_DIGITS, len(whole.lstrip("-")))
    return f"{float(text):.{digits}g}"
