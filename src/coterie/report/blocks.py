"""What the parts of the page are made of: sections, tables, and cells with a bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from coterie.report.html import Html, tag

__all__ = ["Cell", "Section", "bar_cell", "section", "table", "waterfall"]

_LONG = 24  # characters that may need more than one line


class Section(NamedTuple):
    """A part of the page."""

    title: str
    id: str
    html: Html


def section(title: str, *content: Any, id_: str) -> Section:
    """A part with its heading."""
    heading = tag("h2", title, id=f"{id_}-title")
    return Section(
        title, id_, tag("section", heading, *content, aria_labelledby=f"{id_}-title", id=id_)
    )


def table(
    caption: str,
    head: Sequence[Any],
    rows: Sequence[Sequence[Any]],
    class_: str,
    *,
    heads: bool = True,
) -> Html:
    """A table that scrolls by itself when it is wider than the screen.

    With `heads` the first cell of each row is a heading.
    """
    body = [
        tag(
            "tr",
            *(
                cell if isinstance(cell, Cell) else _cell(cell, heads and column == 0)
                for column, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *(tag("th", name, scope="col", dir="auto") for name in head))),
            tag("tbody", *body),
            class_=class_,
        ),
        class_="scroll",
        role="region",
        tabindex="0",
        aria_label=caption,
    )


def _cell(content: Any, heading: bool) -> Html:
    """Short values are not broken into lines, long ones get room."""
    long = "long" if not isinstance(content, Html) and len(str(content)) > _LONG else None
    if heading:
        return tag("th", content, scope="row", dir="auto", class_=long)
    return tag("td", content, dir="auto", class_=long)


class Cell(Html):
    """A td that is already one."""

    __slots__ = ()


def bar_cell(value: str, share: float, class_: str = "") -> Cell:
    """A number over a bar of `share` of the cell; from the middle where the class says so."""
    bar = tag("span", class_=f"bar {class_}".strip(), style=f"--w:{100 * share:.1f}%")
    return Cell(tag("td", tag("span", value, class_="value"), bar, class_="bars"))


def waterfall(
    caption: str,
    names: Sequence[str],
    steps: Sequence[float],
    end: str,
    in_words: Callable[[float], str],
) -> Html:
    """Steps one after the other, each a bar from where the last one ended; then the whole.

    Steps are log-odds; `in_words` says what one means. A table, so that it can be read aloud and
    on a phone.
    """
    ends = [0.0, *accumulate(steps)]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0
    spans = [*pairwise(ends), (0.0, ends[-1])]
    rows = []
    for name, (start, stop) in zip([*names, end], spans, strict=True):
        left, width = (min(start, stop) - low) / span, abs(stop - start) / span
        kind = "up" if stop >= start else "down"
        style = f"--x:{100 * left:.1f}%;--w:{100 * width:.1f}%"
        bar = Cell(tag("td", tag("span", class_=f"bar {kind}", style=style), class_="bars"))
        step = stop - start
        number = f"{step:+.1f}".replace("-", "\N{MINUS SIGN}")
        rows.append([name, number, bar, in_words(step)])
    return table(caption, ["", "log-odds", "", "in words"], rows, "waterfall")
