"""Dates and times of the day as people write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np

__all__ = ["time_of_day", "year_first", "year_last"]

# In English, German, French, Spanish, Italian, Portuguese, Dutch and the Scandinavian languages.
_DAY_NAMES = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda terça quarta quinta sexta",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "måndag tisdag onsdag torsdag fredag lördag söndag",
    "mandag tirsdag onsdag torsdag fredag lørdag søndag",
)
_MONTH_NAMES = (
    "january januar jänner janvier enero gennaio janeiro januari",
    "february februar février fevrier febrero febbraio fevereiro februari",
    "march märz maerz mrz mars marzo março marco maart mrt marts",
    "april avril abril aprile",
    "may mai mayo maggio maio mei maj",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août aout agosto augustus augusti",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre decembre diciembre dicembre dezembro desember",
)


def _month_names() -> dict[str, int]:
    """Months by their names and what these begin with, of three letters at least."""
    meant: dict[str, set[int]] = {}
    for month, names in enumerate(_MONTH_NAMES, start=1):
        for name in names.split():
            for end in range(3, len(name) + 1):
                meant.setdefault(name[:end], set()).add(month)
    return {name: months.pop() for name, months in meant.items() if len(months) == 1}


_MONTHS = _month_names()
_DAYS = {name[:end] for names in _DAY_NAMES for name in names.split() for end in (2, 3, 4, 5, None)}
_DAY_BEFORE = re.compile(r"(?P<day>[^\W\d_]{2,10})\.?,?\s+(?=\w)")
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?:(?P<half>[AaPp])\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
)
_LATER = rf"(?:[T,\s]\s*{_CLOCK})?"
_TIME = re.compile(_CLOCK, re.ASCII)
_YEAR_FIRST = re.compile(
    rf"(?P<y>\d{{4}})(?P<s>[-/.])(?P<m>\d{{1,2}})(?:(?P=s)(?P<d>\d{{1,2}}){_LATER})?", re.ASCII
)
_YEAR_LAST = re.compile(
    rf"(?P<a>\d{{1,2}})(?P<s>[-/.])(?P<b>\d{{1,2}})(?P=s)(?P<y>\d{{4}}|\d{{2}}){_LATER}", re.ASCII
)
_NAMED = re.compile(
    r"(?:(?P<d1>\d{1,2})\.?[ -](?P<n1>[^\W\d_]{3,10})\.?"
    r"|(?P<n2>[^\W\d_]{3,10})\.? (?P<d2>\d{1,2}),?)"
    rf"[ -](?P<y>\d{{4}}|(?<=-)\d{{2}}){_LATER}"
)
_UNPARTED = re.compile(r"(?:19|20)\d{6}", re.ASCII)
# A stretch of the calendar stands for its first day: a week (ISO 8601), a quarter, a month.
_WEEK = re.compile(r"(?P<y>\d{4})-?W(?P<w>\d{2})(?:-?(?P<d>[1-7]))?", re.ASCII)
_QUARTER_FIRST = re.compile(r"Q(?P<q>[1-4])[ /-]?(?P<y>\d{4})", re.ASCII)
_QUARTER_LAST = re.compile(r"(?P<y>\d{4})[ /-]?Q(?P<q>[1-4])", re.ASCII)
_MONTH = re.compile(r"(?P<n>[^\W\d_]{3,10})\.?[ -](?P<y>\d{4}|(?<=-)\d{2})")
_MONTH_BY_NUMBER = re.compile(r"(?P<m>\d{1,2})[-/](?P<y>\d{4})", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _clock(found: re.Match[str]) -> float:
    """Seconds since midnight."""
    if found["hour"] is None:
        return 0.0
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return np.nan
        hour = hour % 12 + (12 if found["half"] in "pP" else 0)
    if hour > 23 or minute > 59 or second > 60:
        return np.nan
    part = float(f"0.{found['part']}") if found["part"] else 0.0
    return hour * 3600.0 + minute * 60.0 + second + part


def _zone(text: str | None) -> timezone:
    if not text or text in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))


def _moment(found: re.Match[str], year: int, month: int, day: int) -> float:
    """Seconds since 1970; times without a zone are taken as they stand."""
    try:
        midnight = datetime(year, month, day, tzinfo=_zone(found["zone"]))
    except ValueError:  # the 31st of February, a zone of 99 hours
        return np.nan
    return (midnight - _EPOCH).total_seconds() + _clock(found)


def _first_day(year: int, month: int | None) -> float:
    """Seconds from 1970 to the first day of a month; NaN where there is no such month."""
    if month is None or not year:
        return np.nan
    return (datetime(year, month, 1, tzinfo=UTC) - _EPOCH).total_seconds()


def _week(found: re.Match[str]) -> float:
    try:
        day = date.fromisocalendar(int(found["y"]), int(found["w"]), int(found["d"] or 1))
    except ValueError:  # a year has 52 or 53 weeks
        return np.nan
    return (day - _EPOCH.date()).total_seconds()


def _quarter(found: re.Match[str]) -> float:
    return _first_day(int(found["y"]), 3 * int(found["q"]) - 2)


def year_first(text: str) -> float:
    """A date or a moment that begins with its year, in seconds since 1970; NaN for anything else.

    >>> year_first("1970-02-01"), year_first("19700201"), year_first("Sun, 1970-02-01")
    (2678400.0, 2678400.0, 2678400.0)
    """
    if len(text) == 8 and _UNPARTED.fullmatch(text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    found = _YEAR_FIRST.fullmatch(_without_day(text))
    if found is None:
        week, quarter = _WEEK.fullmatch(text), _QUARTER_LAST.fullmatch(text)
        return _week(week) if week else _quarter(quarter) if quarter else np.nan
    return _moment(found, int(found["y"]), int(found["m"]), int(found["d"] or 1))


def _without_day(text: str) -> str:
    """A date without the day of the week before it: "Mon, 3 Jan 2022"."""
    found = _DAY_BEFORE.match(text) if text[:1].isalpha() else None
    return text[found.end() :] if found and found["day"].lower() in _DAYS else text


def year_last(text: str, *, day_first: bool) -> float:
    """A date or a moment of another order, in seconds since 1970; NaN for anything else.

    >>> year_last("1.2.1970", day_first=True), year_last("2/1/1970", day_first=False)
    (2678400.0, 2678400.0)
    >>> year_last("Sunday, 1 Feb 1970", day_first=True), year_last("02/1970", day_first=True)
    (2678400.0, 2678400.0)
    """
    found = _YEAR_LAST.fullmatch(_without_day(text))
    if found is None:
        return _named(text)
    if found["s"] == "." and not day_first:
        return np.nan
    first, second = int(found["a"]), int(found["b"])
    day, month = (first, second) if day_first else (second, first)
    return _moment(found, _year(found), month, day)


def _year(found: re.Match[str]) -> int:
    year = int(found["y"])
    if len(found["y"]) == 2:
        year += 2000 if year < 69 else 1900  # as POSIX has it
    return year


def _named(text: str) -> float:
    found = _NAMED.fullmatch(text)
    if found is None and text[:1].isalpha():  # Mar is mardi too
        found = _NAMED.fullmatch(_without_day(text))
    if found is None:
        return _stretch(text)
    month = _month(found["n1"] or found["n2"])
    if month is None:
        return np.nan
    return _moment(found, _year(found), month, int(found["d1"] or found["d2"]))


def _stretch(text: str) -> float:
    """Mar 2020, Mar-20, 03/2020, Q1 2020."""
    month, quarter = _MONTH.fullmatch(text), _QUARTER_FIRST.fullmatch(text)
    numbered = _MONTH_BY_NUMBER.fullmatch(text)
    if month is not None:
        return _first_day(_year(month), _month(month["n"]))
    if numbered is not None and 1 <= int(numbered["m"]) <= 12:
        return _first_day(int(numbered["y"]), int(numbered["m"]))
    return np.nan if quarter is None else _quarter(quarter)


def _month(name: str) -> int | None:
    return _MONTHS.get(name.lower())


def time_of_day(text: str) -> float:
    """Seconds since midnight; NaN for anything else."""
    found = _TIME.fullmatch(text)
    return np.nan if found is None else _clock(found)
