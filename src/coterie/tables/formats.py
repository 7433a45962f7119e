"""How people write numbers and dates, and what they mean.

A format reads texts into numbers, NaN where it cannot. A column is of a format that reads all its
values; which one, where several do, is decided for the whole table (`choosing`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.tables.durations import duration
from coterie.tables.written_dates import time_of_day, year_first, year_last

__all__ = [
    "DATES",
    "DAY",
    "DURATION",
    "FORMATS",
    "NUMBERS",
    "SHORT",
    "group_dots",
    "read_texts",
    "unit_of",
]

DAY = 86_400.0  # seconds
DURATION = "duration"
_LONGEST = 48  # letters; longer texts are read by no format
_GAP = "'’\u00a0\u202f\u2009 "  # between groups of three digits, beside the comma or the point
_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|SEK|NOK|DKK|PLN|Fr\.|kr|zł"
# Of two letters at least: 5G and 3M are as likely codes.
_MEASURE = (
    r"kg|mg|lbs?|oz|km/h|mph|km|cm|mm|ft|sq\.? ?(?:ft|m)|km²|m²|m³|m2|m3|ml|cl|hl|kWh|kW|MW|°C|°F"
    r"|[kMGT]i?B|min|ms|hrs?|px|pcs|ppm|bps|bar|hPa"
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
        rf"(?P<body>[.,]?\d[\d.,{_GAP}]*?)(?P<power>[eE][+-]?\d+)?"
        rf"(?:[.,](?:--?|[–—])|(?P<last>[-−]))?\s*"  # CHF 99.- is even, 99,50- is owed
        rf"(?:(?P<times>{_TIMES_WORDS}|{letters})\s*(?P<coin>(?i:{_CURRENCY}))?"
        rf"|(?P<after>(?i:{_CURRENCY}|%|‰|{_MEASURE})|{measure}))?(?P<close>\))?",
        re.ASCII,
    )


class _Signs(dict[int, str]):
    """What `str.translate` asks for: digits of any script, and wide signs, as ASCII has them."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        digit = unicodedata.decimal(sign, None)
        wide = chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else sign
        self[code] = wide if digit is None else str(digit)
        return self[code]


_SIGNS = _Signs({ord("٫"): ".", ord("٬"): ",", ord("٪"): "%", ord("￥"): "¥"})
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
    if found["last"] and (found["sign"] or found["inner"] or found["body"].isdigit()):
        return np.nan  # 2- is a mark of schools
    rupees = point == "." and _unit(found).upper() in _RUPEES
    if not _BODIES[point].fullmatch(found["body"]) and not (
        rupees and _LAKHS.fullmatch(found["body"])
    ):
        return np.nan
    kept = "".join(sign for sign in found["body"] if sign.isdigit() or sign == point)
    value = float(kept.replace(point, ".") + (found["power"] or ""))
    value *= _TIMES[found["times"].lower().rstrip(".")] if found["times"] else 1.0
    signs = found["sign"] + found["inner"] + (found["last"] or "")
    negative = signs in ("-", "−") or bool(found["open"])
    return -value if negative else value


def _in_ascii(text: str) -> str:
    """The same number in the digits that the patterns here know."""
    return text if text.isascii() else text.translate(_SIGNS)


def unit_of(text: str) -> str:
    """The currency, percent sign or measure that a number is written with, "" for none.

    >>> unit_of("$1,200"), unit_of("12 %"), unit_of("1.8 kg"), unit_of("7")
    ('$', '%', 'KG', '')
    """
    text = _in_ascii(text.strip())
    found = _found(text) or _found(text, short=True)
    return "" if found is None else _unit(found).upper()


def group_dots(text: str) -> bool:
    """Whether every point in a plain number may part groups of three digits: 1.200 and 950."""
    return "." not in text or _GROUPED_BY_DOTS.fullmatch(text.strip()) is not None


# By the sign before decimals, and by the order of day, month and year: numbers as they are, dates
# in seconds since 1970, times of the day in seconds since midnight, durations in seconds.
FORMATS: dict[str, Callable[[str], float]] = {
    "point": lambda text: _amount(text, "."),
    "comma": lambda text: _amount(text, ","),
    "ymd": year_first,
    "dmy": lambda text: year_last(text, day_first=True),
    "mdy": lambda text: year_last(text, day_first=False),
    "time": time_of_day,
    "short": lambda text: _amount(text, ".", short=True),
    "short_comma": lambda text: _amount(text, ",", short=True),
    DURATION: duration,
}
NUMBERS = ("point", "comma")
SHORT = ("short", "short_comma")  # with a letter alone: 1.2K, 314m
DATES = ("ymd", "dmy", "mdy", "time")


def read_texts(texts: Iterable[Any], form: str) -> NDArray[np.float64]:
    """Texts (m,) as numbers by a format; NaN for what it does not read.

    >>> read_texts(["5,3", "1.200,50 €", "five"], "comma").tolist()
    [5.3, 1200.5, nan]
    >>> read_texts(["１，２００", "١٢٫٥", "９％"], "point").tolist()
    [1200.0, 12.5, 9.0]
    >>> (read_texts(["31.01.1970", "Feb 1, 1970 12:00"], "dmy") / DAY).tolist()
    [30.0, 31.5]
    """
    read = FORMATS[form]
    return np.array(
        [read(_in_ascii(text.strip())) if len(text) <= _LONGEST else np.nan for text in texts],
        dtype=float,
    )
