"""What a recipe has to know of a column, summed up so that stretches of it can be added."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData
from coterie.tables.formats import DATES, DAY, DURATION, FORMATS, group_dots, unit_of
from coterie.tables.table import Column, Numbers, Table
from coterie.tables.text_sample import TextSample
from coterie.tables.totals import total_row

__all__ = [
    "ColumnSummary",
    "Moments",
    "Tally",
    "documents",
    "infinite_place",
    "not_read",
    "unread",
    "words_for_none",
]

_READ_AS = {
    "comma": "number with a decimal comma",
    "ymd": "date (year, month, day)",
    "dmy": "date (day, month, year)",
    "mdy": "date (month, day, year)",
    "time": "time",
    DURATION: "duration",
}
# Digits that are a name, also where none begins with 0.
_CODE_NAME = re.compile(
    r"(?i)(^|[ _.-])(zip|(zip|post|postal|pin)[ _-]?codes?|plz|postleitzahl|code[ _-]?postal|cep|"
    r"(tele)?phone|telefon|isbn|issn|ean|gtin|upc|iban|imei)($|[ _.\-\d])"
)
_SHORTEST_CODE = 100
_DAYS = (19000101.0, 20991231.0)  # whole numbers among which dates are
# What people write for no value, and what may also be one.
_PERHAPS_NONE = ("?", "-", "--", ".", "none", "None", "unknown", "missing", "n.a.", "N.A.", "k.A.")
_FIRST_LOOK = 100  # rows
_SHOWN = 5  # values that are named
_MOST_VALUES = 100_000  # different texts that are counted; a column of more is no category


class Moments(NamedTuple):
    """Number, mean and summed squares about the mean of some numbers, the least and the most."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: Any) -> Moments:
        """Of an array."""
        if not values.size:
            return cls()
        mean = float(values.mean())
        squares = float(values.std()) ** 2 * values.size
        return cls(values.size, mean, squares, float(values.min()), float(values.max()))

    @property
    def spread(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.squares / self.n)

    def __add__(self, other: Moments) -> Moments:  # type: ignore[override]
        """Of both together (Chan et al. 1979)."""
        if not self.n or not other.n:
            return self if self.n else other
        n = self.n + other.n
        gap = other.mean - self.mean
        return Moments(
            n,
            self.mean + gap * other.n / n,
            self.squares + other.squares + gap * gap * self.n * other.n / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )


_NO_NUMBER = Moments()


@dataclass
class Tally:
    """What a format reads of a column.

    Attributes
    ----------
    moments, clock, weekday : Moments
        Of the numbers; and of dates by the second of the day and by the day of the week.
    bad : int
        Values that it does not read.
    first_bad : str or None
        What to say of the first of these that stands beside others which it does read.
    """

    moments: Moments = _NO_NUMBER
    clock: Moments = _NO_NUMBER
    weekday: Moments = _NO_NUMBER
    bad: int = 0
    first_bad: str | None = None

    def add(self, table: Table, column: Column, read: Numbers, form: str = "") -> None:
        """Take in a stretch as it was read."""
        finite = np.isfinite(read.values)
        values = read.values if finite.all() else read.values[finite]
        # Finding the place takes another reading of the file: only where the others were read.
        if read.bad.size and self.first_bad is None and (values.size or self.moments.n):
            self.first_bad = not_read(table, column, read.bad, form)
        self.bad += read.bad.size
        self.moments = self.moments + Moments.of(values)
        if form in DATES:
            self.clock = self.clock + Moments.of(values % DAY)
            self.weekday = self.weekday + Moments.of(values // DAY % 7)


@dataclass
class ColumnSummary:
    """What is known of a column after some stretches of it.

    Attributes
    ----------
    name, kind : str
        `kind` as in `Column`.
    n_rows : int
    plain : Tally
        As plain numbers.
    read : dict of str to Tally
        By the formats of people, if it is text.
    units : set of str
        Currencies and percent signs, if it is text that is not plain numbers.
    began_as_numbers : bool
        Whether a whole stretch held numbers only; its values were then not counted as texts.
    codes : bool
        Whether some of its texts are digits behind a zero: 007 is no number.
    infinite : str or None
        What to say of the first infinite number.
    last, counts, rises, whole : float, bool, bool, bool
        The number in the last row; whether each is the one before plus 1, or more than it; whether
        all are whole.
    values : Counter of str
        How often each known text occurs, if it may be a column of categories.
    blank : int
        Rows of such a column that hold nothing, not even a word for it.
    different : str
        Their number, in words where it is only known from below.
    known : int
        Rows with a value.
    words : Counter of str
        In how many rows each word occurs, if it is a column of words.
    texts : TextSample
        Texts to learn topics from, if it may be a column of texts.
    """

    name: str
    kind: str
    n_rows: int = 0
    plain: Tally = field(default_factory=Tally)
    read: dict[str, Tally] = field(default_factory=lambda: {form: Tally() for form in FORMATS})
    units: set[str] = field(default_factory=set)
    began_as_numbers: bool = False
    codes: bool = False
    infinite: str | None = None
    last: float | None = None
    counts: bool = True
    rises: bool = True
    whole: bool = True
    values: Counter[str] = field(default_factory=Counter)
    blank: int = 0
    words: Counter[str] = field(default_factory=Counter)
    texts: TextSample = field(default_factory=TextSample)

    @property
    def is_code(self) -> bool:
        """Whether it holds digits that are no amounts."""
        named = self._has_code_name and self.whole and self.moments.low >= _SHORTEST_CODE
        return not self.plain.bad and (self.codes or named)

    @property
    def _has_code_name(self) -> bool:
        return _CODE_NAME.search(self.name) is not None

    @property
    def of_days(self) -> bool:
        """Whether its plain numbers are dates without signs between their parts: 20240131."""
        return not self.plain.bad and self.read["ymd"].moments.n == self.moments.n > 0

    @property
    def moments(self) -> Moments:
        """Of its plain numbers."""
        return self.plain.moments

    @property
    def different(self) -> str:
        more = " or more" if len(self.values) > _MOST_VALUES else ""
        return f"{len(self.values)}{more}"

    @property
    def known(self) -> int:
        """Rows with a value."""
        if self.kind == "date":
            return self.read["ymd"].moments.n
        return (self.moments.n + self.plain.bad) or self.values.total()

    def add(self, table: Table, role: str) -> None:
        """Take in a stretch; `role` is "words", "category", "text", "left" or "any"."""
        column = table.column(self.name)
        start, self.n_rows = self.n_rows, self.n_rows + table.n_rows
        if role == "words":
            for document in documents(column):
                self.words.update(set(_analyzer()(document)))
        elif role == "category":
            self._count(column)
        elif role == "text":
            self.texts.add(start, documents(column))
        elif role == "any" and column.kind == "date":
            self.read["ymd"].add(table, column, column.read("ymd"), "ymd")
        elif role == "any" and column.kind in ("number", "text") and self._is_text(table, column):
            self._count(column)
            self.texts.add(start, documents(column))

    def _is_text(self, table: Table, column: Column) -> bool:
        """Take in the numbers; whether other values are among them, here or before."""
        read = column.numbers
        self.infinite = self.infinite or infinite_place(table, column, read.values)
        self.plain.add(table, column, read)
        self.codes |= column.kind == "text" and column.has_codes
        texts = bool(self.plain.bad) or self.codes or self._has_code_name
        self.began_as_numbers |= bool(self.moments.n) and not texts
        if column.kind == "number" or not read.bad.size:
            self._look_at_order(read.values)
            self.read["ymd"].add(table, column, _days(read.values), "ymd")
        if column.kind == "text":
            self._read_formats(table, column, read)
        return texts

    def _look_at_order(self, values: NDArray[Any]) -> None:
        """Whether numbers are whole, and count the rows, or at least rise from row to row."""
        self.whole = self.whole and all_whole(values)
        self.rises = self.rises and self.whole
        self.counts = self.counts and self.rises
        if not values.size or not self.rises:
            return
        steps = np.diff(values if self.last is None else np.concatenate(([self.last], values)))
        self.rises = bool((steps > 0).all())
        self.counts = self.rises and self.counts and bool((steps == 1).all())
        self.last = float(values[-1])

    def _read_formats(self, table: Table, column: Column, plain: Numbers) -> None:
        """What the formats make of texts; plain numbers are read without looking at each again."""
        if plain.bad.size:
            texts = column.known_texts()[0]
            self.units.update(map(unit_of, texts))
            for form, tally in self.read.items():
                tally.add(table, column, column.read(form), form)
            return
        self.units.update([""] if np.isfinite(plain.values).any() else [])
        self.read["point"].add(table, column, plain)
        self.read["comma"].add(table, column, _with_commas(column, plain), "comma")
        nothing = Numbers(np.empty(0), np.flatnonzero(~np.isnan(plain.values)))
        for form in (*DATES, DURATION):
            if form != "ymd":
                self.read[form].add(table, column, nothing, form)

    def _count(self, column: Column) -> None:
        if len(self.values) <= _MOST_VALUES:
            texts = column.texts()
            self.values.update(map(str, texts[~column.absent].tolist()))
            self.blank += int(column.empty.sum())


def _days(values: NDArray[Any]) -> Numbers:
    """Numbers like 20240131 in seconds since 1970; the first is bad, or all that are no dates."""
    first = int(np.argmin(np.isnan(values))) if values.size else 0
    least, most = _DAYS
    if values.size and not (np.isnan(values[first]) or least <= values[first] <= most):
        return Numbers(np.empty(0), np.array([first]))
    known = np.flatnonzero(~np.isnan(values))
    given = values[known].astype(np.float64)
    possible = (given >= least) & (given <= most) & (given == np.floor(given))
    number = np.where(possible, given, least).astype(np.int64)
    month = (number // 10_000 - 1970).astype("datetime64[Y]").astype("datetime64[M]")
    month = month + number // 100 % 100 - 1
    day = month.astype("datetime64[D]") + number % 100 - 1
    possible &= (number // 100 % 100 <= 12) & (day.astype("datetime64[M]") == month)
    possible &= (number // 100 % 100 > 0) & (number % 100 > 0)
    seconds = np.full(len(values), np.nan)
    seconds[known[possible]] = day[possible].astype("datetime64[s]").astype(np.int64)
    return Numbers(seconds, known[~possible])


def _with_commas(column: Column, plain: Numbers) -> Numbers:
    """Plain numbers read with a decimal comma: 1.200 is then 1200, and 1.5 nothing at all."""
    if not column.has_points:
        return plain
    # Most numbers with a point are seen not to be such at the first look.
    if all(group_dots(text) for text in column.cells(0, _FIRST_LOOK) if text) and all(
        group_dots(text) for text in column.texts() if text
    ):
        return column.read("comma")
    return Numbers(np.empty(0), np.arange(len(column)))


@cache
def _analyzer() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer().build_analyzer()


def documents(column: Column) -> list[str]:
    """The texts of a column, "" where there is none."""
    texts = column.texts().copy()
    texts[column.absent] = ""
    return list(texts)


def not_read(table: Table, column: Column, bad: Any, form: str = "") -> str:
    """What to say of rows (b,) that hold no number, or no date, as the others do."""
    row, texts = int(bad[0]), column.texts()
    written = list(dict.fromkeys(texts[bad[:_FIRST_LOOK]].tolist()))
    shown = ", ".join(map(repr, written[:_SHOWN])) + (", …" if len(written) > _SHOWN else "")
    others = f" ({len(bad)} such rows{f': {shown}' if written[1:] else ''})" if bad[1:].size else ""
    hint = total_row(table, row)
    if row == 0 and len(bad) == 1 and table.n_rows > 2:  # °C, or names in another language
        hint = (
            "If the first row holds units or a second header, leave it out with `where` "
            f"'{column.name} != {texts[row].strip()}'. "
        )
    return (
        f"{table.source}, {table.place(row)}: {texts[row]!r} in column {column.name!r} is "
        f"not a {_READ_AS.get(form, 'number')}{others}. {hint}Correct it, say "
        f"`missing` {words_for_none(table, written, _PERHAPS_NONE)} if it means that there "
        "is no value, or leave the column out with `drop`, or say `categorical`."
    )


def words_for_none(table: Table, written: Sequence[str], perhaps: Sequence[str] = ()) -> str:
    """What `missing` has to be, if these texts stand for no value too, quoted for a shell.

    It names all words there are: those that are read so now, and `perhaps` others.
    """
    there = set()
    for column in table.columns.values():
        if column.kind == "text":
            there.update({*column.missing, *perhaps} & set(column.texts()))
    found = [text.strip() for text in written if "," not in text][:_SHOWN]
    return shlex.quote(",".join([*found, *sorted(there - {"", *found})]))


def unread(source: str, name: str, tally: Tally) -> InvalidData:
    """The error about values that are no numbers, or no dates, as the others are."""
    told = tally.first_bad or (
        f"{source}: column {name!r} holds {tally.bad} values that cannot be read. Correct them, "
        "or leave the column out with `drop`, or say `categorical`."
    )
    return InvalidData(told)


def all_whole(values: NDArray[Any]) -> bool:
    """Whether all known are whole numbers; mostly the first few tell that they are not."""
    return all(
        bool(((part == np.floor(part)) | np.isnan(part)).all())
        for part in (values[:_FIRST_LOOK], values[_FIRST_LOOK:])
    )


def infinite_place(table: Table, column: Column, values: Any) -> str | None:
    """What to say of the first infinite number, if there is one."""
    infinite = np.flatnonzero(np.isinf(values))
    if not infinite.size:
        return None
    return (
        f"{table.source}, {table.place(int(infinite[0]))}: infinite value in column "
        f"{column.name!r}; correct it or leave the column out with `drop`."
    )
