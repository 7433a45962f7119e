"""What the parts of the page are made of: sections, tables, and cells with a bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from coterie.report._html import Html, tag

__all__ = ["Cell", "Section", "bar_cell", "section", "table"]

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
