"""Dates and times as features: a number for how late, and circles for what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.choices import Choices
from coterie.tables.formats import DAY
from coterie.tables.notes import Note
from coterie.tables.parts import missing_value, no_value
from coterie.tables.summary import ColumnSummary, not_read, unread
from coterie.tables.table import Table

__all__ = ["DatePart"]

_YEAR = 365.2425 * DAY
_PERIODS = {"day": DAY, "week": 7 * DAY, "year": _YEAR}
_MONDAY = 4 * DAY  # 1970 began on a Thursday; weeks begin on a Monday
_TURNS = 2  # a cycle must come round so often to be one


@dataclass(frozen=True)
class DatePart:
    """A column of dates: (t − center) / spread, and cos and sin of the place in each cycle.

    A date has no unit of its own beside heights and prices, so its number always has mean 0 and
    deviation 1; dates spread evenly over a cycle, a circle of radius 1, have deviation 1 there too.

    Attributes
    ----------
    column : str
    form : str
        How dates are written, of `coterie.tables.formats`; of no matter where they are stored so.
    center, spread : float
        In seconds since 1970. Times of the day have no number, only their cycle.
    cycles : list of str
        Of "day", "week" and "year": those that the dates went round twice, not always at one place.
    fill : bool
        Whether missing dates become the mean date, in the middle of every cycle; else refused.
    """

    kind: ClassVar[str] = "date"
    column: str
    form: str
    center: float
    spread: float
    cycles: list[str]
    fill: bool = False

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary, choices: Choices, form: str) -> DatePart:
        """Mean and spread, and the cycles that the dates go through."""
        tally = summary.read[form]
        known, clock, weekday = tally.moments, tally.clock, tally.weekday
        if tally.bad:
            raise unread(source, summary.name, tally)
        if not known.n:
            raise no_value(source, summary.name)
        span = known.high - known.low
        cycles = [name for name, long in _PERIODS.items() if span >= _TURNS * long]
        if clock.low == clock.high and "day" in cycles:
            cycles.remove("day")  # dates alone
        if clock.low == clock.high and weekday.low == weekday.high and "week" in cycles:
            cycles.remove("week")  # weeks alone, or what is done on Mondays
        if form == "time" or (known.low >= 0 and known.high < DAY):
            return cls(summary.name, form, 0.0, 0.0, ["day"], choices.impute)
        spread = known.spread if known.spread > 0 else 1.0
        return cls(summary.name, form, known.mean, spread, cycles, choices.impute)

    @property
    def feature_names(self) -> list[str]:
        circles = [
            f"{self.column} ({way} of {cycle})" for cycle in self.cycles for way in ("cos", "sin")
        ]
        return [*([self.column] if self.spread else []), *circles]

    @property
    def filling(self) -> str:
        """What is done about missing values, in words."""
        return "missing dates put in the middle"

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        column = table.column(self.column)
        seconds, bad = column.read(self.form)
        if bad.size:
            raise InvalidData(not_read(table, column, bad, self.form))
        absent = np.isnan(seconds)
        notes = []
        if absent.any():
            if not self.fill:
                raise missing_value(table, column, absent)
            notes.append(Note(self.column, int(absent.sum()), self.filling))
        features = [(seconds - self.center) / self.spread] if self.spread else []
        for cycle in self.cycles:
            turn = 2 * np.pi * (seconds - _MONDAY) / _PERIODS[cycle]
            features += [np.cos(turn), np.sin(turn)]
        X = np.column_stack(features)
        X[absent] = 0.0
        return X, notes
