"""How long something took, as people and programs write it."""

from __future__ import annotations

import re

import numpy as np

__all__ = ["duration", "has_parts"]

_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_AMOUNT = r"\d+(?:[.,]\d+)?"
_WORDS = re.compile(
    rf"(?:(?P<d>{_AMOUNT})\s*(?:d|days?|tage?|jours?|días?)\b[\s,]*)?"
    rf"(?:(?P<h>{_AMOUNT})\s*(?:h|hrs?|hours?|std\.?|stunden?|heures?|horas?)(?![a-z])[\s,]*)?"
    rf"(?:(?P<m>{_AMOUNT})\s*(?:m|mins?|min\.|minutes?|minuten?|minutos?)(?![a-z])[\s,]*)?"
    rf"(?:(?P<s>{_AMOUNT})\s*(?:s|secs?|sec\.|seconds?|sek\.?|sekunden?|secondes?|segundos?))?",
    re.IGNORECASE,
)
_BARE_MINUTES = re.compile(r"(?<=\d[hH])( ?\d{2})$")  # 1h30
_ISO = re.compile(  # ISO 8601
    rf"P(?:(?P<d>{_AMOUNT})D)?"
    rf"(?:T(?:(?P<h>{_AMOUNT})H)?(?:(?P<m>{_AMOUNT})M)?(?:(?P<s>{_AMOUNT})S)?)?"
)
_LETTERS = re.compile("[A-Za-z]")
_CLOCK = re.compile(
    r"(?:(?P<d>\d+)\s*(?:d|days?),?\s*)?(?P<first>\d+):(?P<second>[0-5]\d)"
    r"(?::(?P<third>[0-5]\d))?(?:[.,](?P<part>\d{1,9}))?",
    re.IGNORECASE,
)


def duration(text: str) -> float:
    """Seconds; NaN for anything that is no duration. Of two parts the first is minutes.

    >>> duration("1:02:03"), duration("62:03"), duration("1h 2m 3s"), duration("PT1H2M3S")
    (3723.0, 3723.0, 3723.0, 3723.0)
    >>> duration("2 days 03:00:00"), duration("-1:30"), duration("1h30"), duration("soon")
    (183600.0, -90.0, 5400.0, nan)
    """
    sign, text = (-1.0, text[1:]) if text[:1] in ("-", "−") else (1.0, text)
    if not text[:1].isdigit() and text[:1] != "P":
        return np.nan
    if ":" in text:
        clock = _CLOCK.fullmatch(text)
        return np.nan if clock is None else sign * _of_clock(clock)
    if not _LETTERS.search(text):  # most amounts and dates
        return np.nan
    found = _WORDS.fullmatch(_BARE_MINUTES.sub(r"\1min", text)) or _ISO.fullmatch(text)
    given = {} if found is None else {k: v for k, v in found.groupdict().items() if v}
    if not given:
        return np.nan
    return sign * sum(_SECONDS[unit] * float(n.replace(",", ".")) for unit, n in given.items())


def _of_clock(found: re.Match[str]) -> float:
    first, second, third = (int(found[part] or 0) for part in ("first", "second", "third"))
    of_hours = found["third"] is not None or found["d"] is not None
    if not of_hours:
        first, second, third = 0, first, second
    part = float(f"0.{found['part']}") if found["part"] else 0.0
    return 86_400.0 * int(found["d"] or 0) + 3600.0 * first + 60.0 * second + third + part


def has_parts(text: str) -> bool:
    """Whether a duration is written in several parts: 3h 12m, and not 3d, which may be a name.

    >>> has_parts("3h 12m"), has_parts("3:12"), has_parts("3d")
    (True, True, False)
    """
    return len(re.findall(r"\d+(?:[.,]\d+)?", text)) > 1
