"""Questions as text, for anything that reads and writes text: a language model, as a rule."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from coterie.active.annotators.oracles import Reply
from coterie.active.query import Query, SetQuery
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.records.inputs import columns_of
from coterie.words import nearest

__all__ = ["Completion", "TextOracle"]

_PAIR = """\
Do these two records belong together?
{guidelines}
Record A
{a}

Record B
{b}

Think it over, then end with one line, exactly in this form:
ANSWER: same
if they belong together,
ANSWER: different
if they do not, or
ANSWER: unknown
if nobody could tell from what is given."""

_SET = """\
Which of these {count} records belong together?
{guidelines}
{records}

Think it over, then end with one line, exactly in this form, which lists the records by number:
ANSWER: [[1, 3], [2]]
Records of one inner list belong together, records of two do not. Leave out a record of which \
nobody could tell from what is given."""

# The last line that begins so counts: who thinks aloud may quote the form before.
_ANSWER = re.compile(r"^[\s*_#>`]*answer[\s*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_WORDS = {"same": "same", "yes": "same", "different": "different", "no": "different"}


class Completion(NamedTuple):
    """A text that came back, and what it cost (None: not known)."""

    text: str
    cost: float | None = None


class TextOracle:
    """Asks any function from text to text about records.

    Every question becomes a prompt with the records, the guidelines and the form of the answer.
    What comes back and cannot be understood is "unknown".

    Parameters
    ----------
    complete : callable
        Takes a text and returns a text, or a `Completion`; plain or `async`.
    records : data frame, dict of columns, sequence of texts, or sequence of dicts
        One record for each row of the session.
    fields : sequence of str, optional
        Columns that are shown; all if not given.
    guidelines : str, default=""
        What "belong together" means here, in words.

    Examples
    --------
    >>> from coterie.active import Query, TextOracle
    >>> oracle = TextOracle(lambda prompt: "Both in Ulm.\\nANSWER: same", ["Ann, Ulm", "Anne, Ulm"])
    >>> oracle(Query((0, 1), "", "")).answer
    'same'
    """

    def __init__(
        self,
        complete: Callable[[str], Any],
        records: Any,
        *,
        fields: Sequence[str] | None = None,
        guidelines: str = "",
    ) -> None:
        check_arguments(TextOracle, locals())
        self.complete = complete
        self.guidelines = guidelines
        self._texts = _record_texts(records, fields)

    # -- asking ----------------------------------------------------------------------------
    def __call__(self, question: Query | SetQuery) -> Reply | Awaitable[Reply]:
        """The answer; awaitable if `complete` is."""
        prompt = self.prompt(question)
        came = self.complete(prompt)
        if inspect.isawaitable(came):
            return self._awaited(came, prompt, question)
        return self._reply(came, prompt, question)

    async def _awaited(
        self, came: Awaitable[Any], prompt: str, question: Query | SetQuery
    ) -> Reply:
        return self._reply(await came, prompt, question)

    def _reply(self, came: Any, prompt: str, question: Query | SetQuery) -> Reply:
        text, cost = came if isinstance(came, Completion) else (came, None)
        if not isinstance(text, str):
            raise InvalidParameter(f"complete returned {text!r}; it must return a text.")
        is_set = isinstance(question, SetQuery)
        answer = read_piles(text, question.rows) if is_set else read_word(text)
        return Reply(answer, None, cost, prompt, text)

    def prompt(self, question: Query | SetQuery) -> str:
        """The question in words."""
        guidelines = f"\n{self.guidelines.strip()}\n" if self.guidelines.strip() else ""
        for row in question.rows:
            if row >= len(self._texts):
                raise InvalidParameter(
                    f"row {row} has no record: {len(self._texts)} are given; give one for each row."
                )
        shown = [self._texts[row] for row in question.rows]
        if isinstance(question, Query):
            return _PAIR.format(guidelines=guidelines, a=shown[0], b=shown[1])
        listed = "\n\n".join(f"Record {t}\n{text}" for t, text in enumerate(shown, 1))
        return _SET.format(count=len(shown), guidelines=guidelines, records=listed)

    def key(self, question: Query | SetQuery) -> str:
        """Changes with what is said of the rows and with the guidelines, not with their order."""
        said = sorted(self._texts[row] for row in question.rows)
        text = json.dumps([self.guidelines, said, _PAIR, _SET])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


# -- reading what comes back ------------------------------------------------------------------
def _last_answer(text: str) -> str | None:
    found = _ANSWER.findall(text)
    return found[-1].strip(" \t\r*_`.\"'") if found else None


def read_word(text: str) -> str:
    """The word of the last line "ANSWER: …", or of a text that is one word; else "unknown"."""
    said = _last_answer(text)
    word = (text.strip(" \t\r\n*_`.\"'") if said is None else said).lower()
    return _WORDS.get(word, "unknown")


def read_piles(text: str, rows: Sequence[int]) -> list[list[int]]:
    """Piles of rows by the last line "ANSWER: [[1, 3], [2]]"; none if it cannot be understood.

    Numbers are places in the question, from 1. One that is out of range or named twice makes the
    whole answer unknown: who miscounts may mean anything.
    """
    said = _last_answer(text)
    try:
        piles = json.loads(text.strip() if said is None else said)
    except json.JSONDecodeError:
        return []
    if not isinstance(piles, list) or not all(isinstance(pile, list) for pile in piles):
        return []
    numbers = [number for pile in piles for number in pile]
    known = all(type(number) is int and 1 <= number <= len(rows) for number in numbers)
    if not known or len(set(numbers)) < len(numbers):
        return []
    return [[rows[number - 1] for number in pile] for pile in piles if pile]


# -- records as text --------------------------------------------------------------------------
def _record_texts(records: Any, fields: Sequence[str] | None) -> list[str]:
    columns = columns_of(records)
    if columns is None:
        listed = records.tolist() if hasattr(records, "tolist") else list(records)
        if listed and isinstance(listed[0], Mapping):
            names = list(dict.fromkeys(name for record in listed for name in record))
            columns = {name: [record.get(name) for record in listed] for name in names}  # type: ignore[misc]
        elif fields is not None:
            raise InvalidParameter("fields: records are plain texts, which have none.")
        else:
            return [str(record) for record in listed]
    assert columns is not None
    for name in fields or ():
        if name not in columns:
            raise InvalidParameter(
                f"fields: there is no column {name!r}; there are {', '.join(columns)}."
                f"{nearest(name, columns)}"
            )
    shown = list(fields) if fields is not None else list(columns)
    rows = zip(*(columns[name] for name in shown), strict=True)
    return ["\n".join(_line(*pair) for pair in zip(shown, row, strict=True)) for row in rows]


def _line(name: str, value: Any) -> str:
    missing = value is None or value != value
    return f"{name}: {'' if missing else value}".rstrip()
