"""What a request holds, read field by field; whatever is not as it should be is named."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from coterie.studio.errors import Refused

__all__ = ["Body"]

_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MISSING = object()


class Body:
    """A JSON object.

    Parameters
    ----------
    values : mapping
        Query parameters come as texts, which `integer`, `rows` and `flag` read too.
    """

    def __init__(self, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise Refused("InvalidRequest", "The body must be a JSON object.")
        self.values = values

    def _get(self, name: str, default: Any) -> Any:
        value = self.values.get(name, _MISSING)
        if value is _MISSING:
            if default is _MISSING:
                raise wrong(name, "is missing")
            return default
        return value

    def key(self) -> str:
        """The name that the page gave to this request."""
        value = self._get("key", _MISSING)
        if not isinstance(value, str) or not _KEY.fullmatch(value):
            raise wrong("key", "must be 8 to 64 letters, digits, - or _")
        return value

    def text(self, name: str, default: Any = _MISSING, most: int = 200) -> Any:
        """A text of at most `most` letters, or the default (None is then a value too)."""
        value = self._get(name, default)
        if value is None and default is None:
            return None
        if not isinstance(value, str):
            raise wrong(name, "must be a text")
        if len(value) > most:
            raise wrong(name, f"must not be longer than {most} characters")
        if any(ord(letter) < 32 and letter not in "\n\t\r" for letter in value) or "\x7f" in value:
            raise wrong(name, "must not hold control characters")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise wrong(name, "is not valid Unicode") from None
        return value

    def choice(self, name: str, choices: Iterable[str], default: Any = _MISSING) -> Any:
        """One of these words."""
        value = self._get(name, default)
        if value is None and default is None:
            return None
        allowed = list(choices)
        if not isinstance(value, str) or value not in allowed:
            raise wrong(name, f"must be one of {', '.join(allowed)}")
        return value

    def integer(self, name: str, default: Any = _MISSING, least: int = 0, most: int = 2**53) -> Any:
        """A whole number between two others."""
        value = self._get(name, default)
        if value is None and default is None:
            return None
        return _integer(name, value, least, most)

    def number(self, name: str, default: Any = _MISSING) -> Any:
        """A finite number."""
        value = self._get(name, default)
        if value is None and default is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            raise wrong(name, "must be a number")
        return float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false; also as text, as an address has it."""
        value = self._get(name, default)
        value = (
            {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
        )
        if not isinstance(value, bool):
            raise wrong(name, "must be true or false")
        return value

    def rows(self, name: str, n: int, default: Any = _MISSING, most: int = 2000) -> Any:
        """Row numbers below n, all different; also as text, "3,8,5"."""
        value = self._get(name, default)
        if value is default:
            return default
        if isinstance(value, str):
            value = [part for part in value.split(",") if part]
        if not isinstance(value, list):
            raise wrong(name, "must be a list of row numbers")
        if len(value) > most:
            raise wrong(name, f"must not list more than {most} rows")
        found = [_integer(name, row, 0, n - 1) for row in value]
        if len(set(found)) < len(found):
            raise wrong(name, "lists a row twice")
        return found

    def piles(self, name: str, n: int) -> list[list[int]]:
        """Lists of rows."""
        value = self._get(name, _MISSING)
        if not isinstance(value, list):
            raise wrong(name, "must be a list of lists of row numbers")
        return [Body({name: pile}).rows(name, n) for pile in value[:2000]]

    def texts(self, name: str) -> dict[str, str]:
        """An object of texts."""
        value = self._get(name, {})
        if not isinstance(value, dict) or len(value) > 10_000:
            raise wrong(name, "must be an object of texts")
        return {Body({name: k}).text(name): Body({name: v}).text(name) for k, v in value.items()}


def wrong(name: str, words: str) -> Refused:
    """What to say of a field."""
    return Refused("InvalidRequest", f"{name} {words}.", field=name)


def _integer(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,16}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(name, "must be a whole number")
    if not least <= value <= most:
        raise wrong(name, f"must be between {least} and {most}")
    return value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
