"""How people write numbers and dates, and what they mean.

A format reads texts into numbers, NaN where it cannot. A column is of a format that reads all its
values; which one, where several do, is decided for the whole table (`choosing`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DATES", "DAY", "FORMATS", "NUMBERS", "SHORT", "group_dots", "read_texts", "unit_of"]

DAY = 86_400.0  # seconds
_LONGEST = 48  # letters; longer texts are read by no format
_GAP = "'’\u00a0\u202f\u2009 "  # between groups of three digits, beside the comma or the point
_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|SEK|NOK|DKK|PLN|Fr\.|kr|zł"
# Of two letters at least: 5G and 3M are as likely codes.
_MEASURE = (
    r"kg|mg|lbs?|oz|km/h|mph|km|cm|mm|ft|sqft|km²|m²|m³|m2|m3|ml|cl|hl|kWh|kW|MW|°C|°F|[kMGT]i?B|min|ms"
    r"|hrs?|px|pcs|ppm|bar|hPa"
)
# For thousands and more; of the letters, T is a thousand to some and a million millions to others.
_TIMES = {
    **dict.fromkeys(("k", "tsd", "thousand"), 1e3),
    **dict.fromkeys(("m", "mn", "mio", "million", "millions"), 1e6),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "billions", "g"), 1e9),
}
_TIMES_WORDS = r"(?i:tsd\.?|thousand|mn|mio\.?|millions?|bn|mrd\.?|billions?)"


def _amount_with(letters: str, measure: str) -> re.Pattern[str]:
    """A number with a currency, a measure, or with words or letters for thousands and more."""
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[+\-−]?)\s*(?P<before>(?i:{_CURRENCY}))?\s*(?P<inner>[+\-−]?)"
        rf"(?P<body>[.,]?\d[\d.,{_GAP}]*?)(?P<power>[eE][+-]?\d+)?\s*"
        rf"(?:(?P<times>{_TIMES_WORDS}|{letters})\s*(?P<coin>(?i:{_CURRENCY}))?"
        rf"|(?P<after>(?i:{_CURRENCY}|%|‰|{_MEASURE})|{measure}))?(?P<close>\))?",
        re.ASCII,
    )


_AMOUNT = _amount_with("[kKmMbB]", "°")
# A letter alone is a unit, or stands for thousands, where the column bears it out: `choosing`.
_SHORT = _amount_with("[kKMBG]", "[mglshtWVA]")


def _body(point: str, groups: str) -> re.Pattern[str]:
    """Digits with a decimal sign, perhaps in groups of three that one sign parts."""
    mark = re.escape(point)
    parted = rf"[1-9]\d{{0,2}}([{re.escape(groups)}])\d{{3}}(?:\1\d{{3}})*(?:{mark}\d+)?"
    return re.compile(rf"{parted}|\d+(?:{mark}\d*)?|{mark}\d+", re.ASCII)


_BODIES = {".": _body(".", "," + _GAP), ",": _body(",", "." + _GAP)}
_LAKHS = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?", re.ASCII)  # of rupees: ₹12,34,567
_RUPEES = ("₹", "INR")
_GROUPED_BY_DOTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)


def _found(text: str, short: bool = False) -> re.Match[str] | None:
    """The parts of an amount; M stands for millions in $3M, in 3M only if that is written short."""
    found = (_SHORT if short else _AMOUNT).fullmatch(text)
    if found is None or short or len(found["times"] or "none") > 1:
        return found
    return found if found["before"] or found["coin"] else None


def _unit(found: re.Match[str]) -> str:
    return found["before"] or found["coin"] or found["after"] or ""


def _amount(text: str, point: str, short: bool = False) -> float:
    found = _found(text, short)
    if found is None or bool(found["open"]) != bool(found["close"]):
        return np.nan
    behind = found["coin"] or found["after"]
    if (found["before"] and behind) or (found["sign"] and found["inner"]):
        return np.nan
    rupees = point == "." and _unit(found).upper() in _RUPEES
    if not _BODIES[point].fullmatch(found["body"]) and not (
        rupees and _LAKHS.fullmatch(found["body"])
    ):
        return np.nan
    kept = "".join(sign for sign in found["body"] if sign.isdigit() or sign == point)
    value = float(kept.replace(point, ".") + (found["power"] or ""))
    value *= _TIMES[found["times"].lower().rstrip(".")] if found["times"] else 1.0
    negative = (found["sign"] + found["inner"]) in ("-", "−") or bool(found["open"])
    return -value if negative else value


def unit_of(text: str) -> str:
    """The currency, percent sign or measure that a number is written with, "" for none.

    >>> unit_of("$1,200"), unit_of("12 %"), unit_of("1.8 kg"), unit_of("7")
    ('$', '%', 'KG', '')
    """
    found = _found(text.strip()) or _found(text.strip(), short=True)
    return "" if found is None else _unit(found).upper()


def group_dots(text: str) -> bool:
    """Whether every point in a plain number may part groups of three digits: 1.200 and 950."""
    return "." not in text or _GROUPED_BY_DOTS.fullmatch(text.strip()) is not None


# In English, German, French, Spanish, Italian, Portuguese, Dutch and the Scandinavian languages.
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
    rf"[ -](?P<y>\d{{4}}){_LATER}"
)
# A stretch of the calendar stands for its first day: a week (ISO 8601), a quarter, a month.
_WEEK = re.compile(r"(?P<y>\d{4})-?W(?P<w>\d{2})(?:-?(?P<d>[1-7]))?", re.ASCII)
_QUARTER_FIRST = re.compile(r"Q(?P<q>[1-4])[ /-]?(?P<y>\d{4})", re.ASCII)
_QUARTER_LAST = re.compile(r"(?P<y>\d{4})[ /-]?Q(?P<q>[1-4])", re.ASCII)
_MONTH = re.compile(r"(?P<n>[^\W\d_]{3,10})\.?[ -](?P<y>\d{4})")
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


def _seconds(found: re.Match[str], year: int, month: int, day: int) -> float:
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


def _year_first(text: str) -> float:
    found = _YEAR_FIRST.fullmatch(text)
    if found is None:
        week, quarter = _WEEK.fullmatch(text), _QUARTER_LAST.fullmatch(text)
        return _week(week) if week else _quarter(quarter) if quarter else np.nan
    return _seconds(found, int(found["y"]), int(found["m"]), int(found["d"] or 1))


def _year_last(text: str, *, day_first: bool) -> float:
    found = _YEAR_LAST.fullmatch(text)
    if found is None:
        return _named(text)
    if found["s"] == "." and not day_first:
        return np.nan
    first, second, year = int(found["a"]), int(found["b"]), int(found["y"])
    if len(found["y"]) == 2:
        year += 2000 if year < 69 else 1900  # as POSIX has it
    day, month = (first, second) if day_first else (second, first)
    return _seconds(found, year, month, day)


def _named(text: str) -> float:
    found = _NAMED.fullmatch(text)
    if found is None:
        return _named_stretch(text)
    month = _month(found["n1"] or found["n2"])
    if month is None:
        return np.nan
    return _seconds(found, int(found["y"]), month, int(found["d1"] or found["d2"]))


def _named_stretch(text: str) -> float:
    """Mar 2020, Q1 2020."""
    month, quarter = _MONTH.fullmatch(text), _QUARTER_FIRST.fullmatch(text)
    if month is not None:
        return _first_day(int(month["y"]), _month(month["n"]))
    return np.nan if quarter is None else _quarter(quarter)


def _month(name: str) -> int | None:
    return _MONTHS.get(name.lower())


def _time(text: str) -> float:
    found = _TIME.fullmatch(text)
    return np.nan if found is None else _clock(found)


# By the sign before decimals, and by the order of day, month and year: numbers as they are, dates
# in seconds since 1970, times of the day in seconds since midnight.
FORMATS: dict[str, Callable[[str], float]] = {
    "point": lambda text: _amount(text, "."),
    "comma": lambda text: _amount(text, ","),
    "ymd": _year_first,
    "dmy": lambda text: _year_last(text, day_first=True),
    "mdy": lambda text: _year_last(text, day_first=False),
    "time": _time,
    "short": lambda text: _amount(text, ".", short=True),
    "short_comma": lambda text: _amount(text, ",", short=True),
}
NUMBERS = ("point", "comma")
SHORT = ("short", "short_comma")  # with a letter alone: 1.2K, 314m
DATES = ("ymd", "dmy", "mdy", "time")


def read_texts(texts: Iterable[Any], form: str) -> NDArray[np.float64]:
    """Texts (m,) as numbers by a format; NaN for what it does not read.

    >>> read_texts(["5,3", "1.200,50 €", "five"], "comma").tolist()
    [5.3, 1200.5, nan]
    >>> (read_texts(["31.01.1970", "Feb 1, 1970 12:00"], "dmy") / DAY).tolist()
    [30.0, 31.5]
    """
    read = FORMATS[form]
    return np.array(
        [read(text.strip()) if len(text) <= _LONGEST else np.nan for text in texts], dtype=float
    )
