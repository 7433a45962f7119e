"""What a column is: a number however it is written, a date, a category, a text; or of no use.

Decided from summaries alone, so that a table in memory and one in files are read alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.choices import Choices
from coterie.tables.durations import has_parts
from coterie.tables.formats import DATES, DURATION, NUMBERS, SHORT, read_texts
from coterie.tables.summary import ColumnSummary, unread

__all__ = ["Use", "decide"]

_LEAST_CATEGORIES, _MOST_CATEGORIES = 20, 100
_FEWEST = 20  # rows from which differing values tell something
_DISTINCT = 0.9  # share of different values from which a column of text tells rows apart
_WORDS = 5  # of a text, on average; shorter ones are names and codes
_FIRST_LOOK = 1000  # texts
_ID_NAME = re.compile(r"(?i)(^|[ _.-])(id|key|uuid|guid|index|idx|nr|no)$|Id$|ID$")
_SURELY_ID = re.compile(r"(^|[ _.-])(id|ID|Id)$|[a-z](Id|ID)$")
_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\u0e01-\u0e3a]")  # Japanese, Chinese, Thai
_TUPLE = re.compile(r"\s*\(?\s*-?\d+(\.\d+)?(\s*[,;]\s*-?\d+(\.\d+)?)+\s*\)?\s*", re.ASCII)
# 12.5*, 48°44'N, 12 ± 3: not telephone numbers, addresses of computers and versions.
_ALMOST_NUMBER = re.compile(r"\s*[^\w\s]{0,2}\s*\d[\d.,]*(\s?[^\w\s]{1,3}|\s?[±°].*)")
_PLAIN = re.compile(r"\s*[-+]?\d+([.,]\d+)?\s*")
_VECTOR = re.compile(r"\s*\[\s*([-+.\d]|\]|nan|NaN|null)")


class Use(NamedTuple):
    """What is done with a column.

    Attributes
    ----------
    kind : str
        One of `coterie.tables.choices.KINDS`; "drop" for none.
    form : str
        How it is written, of `coterie.tables.formats.FORMATS`; "" for plain numbers and the rest.
    reason : str
        Why it is dropped.
    note : str
        What the user should know about how it is read.
    """

    kind: str
    form: str = ""
    reason: str = ""
    note: str = ""


def decide(source: str, summaries: Sequence[ColumnSummary], choices: Choices) -> list[Use]:
    """What is done with each column; what is useless is dropped if anything else is left."""
    comma = _speaks_comma(summaries)
    uses = [_use(source, summary, choices, comma) for summary in summaries]
    if all(use.kind == "drop" for use in uses):
        uses = [
            Use("number") if use.reason in _COUNTING and not summary.plain.bad else use
            for use, summary in zip(uses, summaries, strict=True)
        ]
    if all(use.kind == "drop" for use in uses):
        why = "; ".join(
            f"{summary.name} ({use.reason})"
            for summary, use in zip(summaries[:5], uses, strict=False)
        )
        raise InvalidData(
            f"{source}: no column is left to cluster by: {why}. Say what a column is with "
            "`columns` (as category or text, for instance), or compare the rows as records."
        )
    return uses


_COUNTING = ("numbers the rows", "an id: whole numbers that rise", "an id by its name")


def _speaks_comma(summaries: Sequence[ColumnSummary]) -> bool:
    """Whether the table has columns that only a decimal comma reads, and none that only a point."""

    def alone(form: str, other: str) -> bool:
        return any(
            s.kind == "text" and s.known and not s.read[form].bad and s.read[other].bad
            for s in summaries
        )

    return alone("comma", "point") and not alone("point", "comma")


def _use(source: str, summary: ColumnSummary, choices: Choices, comma: bool) -> Use:
    told = choices.kind_of(summary.name)
    kind, _, form = told.partition("/")
    if kind in ("category", "text", "words", "vector"):
        return Use(kind)
    if kind in ("number", "date"):
        return _as_told(source, summary, kind, form, comma)
    if summary.kind == "vector":
        return Use("vector")
    if summary.kind == "date":
        return Use("date", "ymd")
    if summary.kind == "other":
        raise InvalidData(
            f"{source}: column {summary.name!r} holds neither numbers nor text; leave it out with "
            "`drop`, or turn it into numbers first."
        )
    if not summary.known:
        return Use("drop", reason="no values")
    asked = summary.name in choices.features
    if summary.is_code:
        return _code(source, summary, asked)
    return _number(summary, comma, asked) or _written(source, summary, comma, asked)


def _code(source: str, summary: ColumnSummary, asked: bool) -> Use:
    """Digits behind a zero, as in zip codes: names of something, not amounts."""
    if summary.began_as_numbers:
        raise InvalidData(
            f"{source}: column {summary.name!r} begins with numbers and goes on with codes like "
            f"007: say which it is in `columns`, {summary.name}:number or {summary.name}:category."
        )
    if summary.n_rows >= _FEWEST and not asked and summary.counts:
        return Use("drop", reason=_COUNTING[0])
    return _text(source, summary, asked)


def _as_told(source: str, summary: ColumnSummary, kind: str, form: str, comma: bool) -> Use:
    """A number or a date because the user says so."""
    if summary.kind in ("number", "date"):
        return Use(kind, "ymd" if "date" in (kind, summary.kind) else "")
    if kind == "number" and not form and not summary.plain.bad:
        return Use("number")
    able = (*NUMBERS, *SHORT, DURATION) if kind == "number" else DATES
    if not form:
        form = min(_preferred(able, comma), key=lambda name: summary.read[name].bad)
    return Use(kind, form)


def _number(summary: ColumnSummary, comma: bool, asked: bool) -> Use | None:
    """Plain numbers; None for anything else. Those that only count rows are dropped."""
    if summary.plain.bad:
        return None
    if summary.of_days:
        words = "whole numbers read as dates (year, month, day)"
        return Use("date", "ymd", note=f"{words}; if not, say {summary.name}:number in `columns`")
    if summary.n_rows >= _FEWEST and not asked and summary.known == summary.n_rows:
        if summary.counts:
            return Use("drop", reason=_COUNTING[0])
        if summary.rises and _ID_NAME.search(summary.name):
            return Use("drop", reason=_COUNTING[1])
        if summary.whole and _SURELY_ID.search(summary.name):
            return Use("drop", reason=_COUNTING[2])
    dots = summary.kind == "text" and not summary.read["comma"].bad
    if comma and dots and summary.read["comma"].moments != summary.moments:
        return Use(
            "number",
            "comma",
            note="points read as parting thousands, as commas are decimal elsewhere; if not, say "
            f"{summary.name}:number/point in `columns`",
        )
    return Use("number")


def _written(source: str, summary: ColumnSummary, comma: bool, asked: bool) -> Use:
    """A text: numbers or dates as people write them, vectors, documents, categories."""
    lasting = summary.read[DURATION]
    if _lasts(summary) and not lasting.bad and summary.read["time"].bad:
        return Use("number", DURATION, note="read as how long something took, in seconds")
    for kind, forms in (("number", NUMBERS), ("date", DATES)):
        able = [form for form in _preferred(forms, comma) if not summary.read[form].bad]
        if able:
            _refuse_two_units(source, summary, kind)
            return Use(kind, able[0], note=_doubt(summary, able))
    if _VECTOR.match(next(iter(summary.values), "")) or _are_tuples(summary):
        return Use("vector")
    short = _short(source, summary, comma)
    if short:
        return short
    likely = [*NUMBERS, *DATES, *([DURATION] if _lasts(summary) else [])]
    best = max(likely, key=lambda form: summary.read[form].moments.n)
    tally = summary.read[best]
    if summary.began_as_numbers or tally.moments.n > tally.bad:  # more likely a slip
        raise unread(source, summary.name, tally)
    _refuse_two_decimal_signs(source, summary)
    return _text(source, summary, asked)


def _are_tuples(summary: ColumnSummary) -> bool:
    """Whether cells are as many numbers each, some with decimals, as places are: 48.1, 11.5."""
    found = [_TUPLE.fullmatch(text) for text in summary.values]
    if not found or not all(found) or not any("." in text for text in summary.values):
        return False
    return len({len(re.findall("[,;]", text)) for text in summary.values}) == 1


def _lasts(summary: ColumnSummary) -> bool:
    """Whether what can be read as durations is so: of several parts, or in several units."""
    some = list(summary.values)[:_FIRST_LOOK]
    return len(summary.units - {""}) > 1 or any(map(has_parts, some))


def _short(source: str, summary: ColumnSummary, comma: bool) -> Use | None:
    """Numbers with a letter behind them, as in 1.2K or 314m; None where they may be codes.

    5G and 3M are as likely names: there must be decimals among them, or more than there are
    categories in a column, and units that are not mixed.
    """
    able = [form for form in _preferred(SHORT, comma) if not summary.read[form].bad]
    telling = len(summary.values) > _LEAST_CATEGORIES or any(
        sign in text for text in summary.values for sign in ".,"
    )
    if able and telling and any(len(unit) > 1 for unit in summary.units):
        _refuse_two_units(source, summary, "number")  # kg and g, but not the flats 5a and 5h
    if not able or not telling or len(summary.units) > 1 or summary.began_as_numbers:
        return None
    return Use("number", able[0])


def _text(source: str, summary: ColumnSummary, asked: bool) -> Use:
    counts = summary.values
    different, known = len(counts), counts.total()
    limit = min(_MOST_CATEGORIES, max(_LEAST_CATEGORIES, summary.n_rows // 2))
    many = known >= _FEWEST and different >= _DISTINCT * known
    if many and _mean_words(counts) >= _WORDS:
        return Use("text")
    of_ids = known >= _FEWEST and 2 * different >= known and _SURELY_ID.search(summary.name)
    if (many or of_ids) and not asked:
        reason = "all different" if different == known else f"{different} of {known} different"
        if _ID_NAME.search(summary.name):
            reason = f"an id: {reason}"
        elif (example := _like_amounts(counts)) is not None:
            reason += f", as {example!r}: if these are amounts, write them as numbers"
        return Use("drop", reason=reason)
    if different > limit:
        zeros = " that begin with 0" if summary.codes else ""
        what = f"codes{zeros}" if summary.is_code else "texts"
        number = f", or say {summary.name}:number in `columns`" if summary.is_code else ""
        raise InvalidData(
            f"{source}: column {summary.name!r} holds {summary.different} different {what}. "
            "Leave it out with `drop`, name it in `id_column` or `text`, or insist with "
            f"`categorical`{number}."
        )
    return Use("category")


def _like_amounts(counts: dict[str, int]) -> str | None:
    """One of the texts that are numbers with something that nobody reads, if nearly all are."""
    some = list(counts)[:_FIRST_LOOK]
    found = [text for text in some if _ALMOST_NUMBER.fullmatch(text)]
    plain = sum(_PLAIN.fullmatch(text) is not None for text in some)
    return found[0] if found and len(found) + plain >= _DISTINCT * len(some) else None


def _mean_words(counts: dict[str, int]) -> float:
    """Words of a text on average; scripts without spaces have about two letters to a word."""
    some = list(counts)[:_FIRST_LOOK]
    return sum(len(text.split()) + len(_UNSPACED.findall(text)) / 2 for text in some) / len(some)


def _preferred(forms: Sequence[str], comma: bool) -> list[str]:
    """The formats in the order in which they are believed where several read all values."""
    believed = (*NUMBERS, *SHORT, "ymd", "mdy", "dmy", "time")
    if comma:
        believed = (*NUMBERS[::-1], *SHORT[::-1], "ymd", "dmy", "mdy", "time")
    return [form for form in believed if form in forms]


_OTHER_WAY = {
    "dmy": ("dates read with the day first", "date/mdy"),
    "mdy": ("dates read with the month first", "date/dmy"),
    "point": ("commas read as parting thousands", "number/comma"),
    "comma": ("commas read as standing before decimals", "number/point"),
}


def _doubt(summary: ColumnSummary, able: Sequence[str]) -> str:
    """What to tell of a column that can be read in two ways which differ."""
    first = summary.read[able[0]].moments
    if able[0] == "time" and not summary.read[DURATION].bad:
        words = "read as times of the day; if they say how long something took, say"
        return f"{words} {summary.name}:number/duration in `columns`"
    if able[0] not in _OTHER_WAY or all(summary.read[f].moments == first for f in able[1:]):
        return ""
    read, other = _OTHER_WAY[able[0]]
    return f"{read}; if not, say {summary.name}:{other} in `columns`"


def _refuse_two_units(source: str, summary: ColumnSummary, kind: str) -> None:
    units = sorted(summary.units - {""})
    if kind == "number" and (len(units) > 1 or ("" in summary.units and "%" in units)):
        found = " and ".join(units if len(units) > 1 else ["numbers without a sign", *units])
        raise InvalidData(
            f"{source}: column {summary.name!r} mixes {found}: bring them to one unit, or leave "
            "the column out with `drop`, or say `categorical`."
        )


def _refuse_two_decimal_signs(source: str, summary: ColumnSummary) -> None:
    """Numbers of which some are written with a decimal comma and others with a point."""
    point, comma = summary.read["point"], summary.read["comma"]
    if not (point.bad and comma.bad) or point.bad + comma.bad > summary.known:
        return
    texts = list(summary.values)
    no_point, no_comma = (np.isnan(read_texts(texts, form)) for form in NUMBERS)
    if no_point.any() and no_comma.any() and not (no_point & no_comma).any():
        found = f"{texts[int(no_point.argmax())]!r} and {texts[int(no_comma.argmax())]!r}"
        raise InvalidData(
            f"{source}: column {summary.name!r} writes decimals in two ways, {found}: write all "
            "with one sign, or leave the column out with `drop`, or say `categorical`."
        )
