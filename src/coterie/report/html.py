"""HTML by construction: text becomes markup only by way of `tag`, which escapes it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

__all__ = ["Html", "joined", "raw", "safe", "tag"]

VOID = frozenset({"meta", "link", "br", "col", "hr"})
# What no HTML text may hold: control characters, lone surrogates, and the two non-characters.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Markup; every other string is text and is escaped before it gets into one."""

    __slots__ = ()


def raw(markup: str) -> Html:
    """Markup written by us, not by a user: the style sheet, entities."""
    return Html(markup)


def safe(text: Any) -> Html:
    """Text as markup that shows it; what HTML cannot hold is shown as �."""
    if isinstance(text, Html):
        return text
    return Html(escape(FORBIDDEN.sub("\ufffd", str(text)), quote=True))


def joined(parts: Iterable[Any], separator: str = "") -> Html:
    """Parts one after the other; None is left out."""
    return Html(str(safe(separator)).join(safe(part) for part in parts if part is not None))


def tag(name: str, *children: Any, **attributes: Any) -> Html:
    """An element. `class_` is class, `aria_label` aria-label; attributes of None are left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{safe(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(children)}</{name}>")
