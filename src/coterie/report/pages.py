"""The frame of every page: head, contents, sections."""

from __future__ import annotations

from importlib.resources import files

from coterie.report.blocks import Section
from coterie.report.html import raw, safe, tag

__all__ = ["POLICY", "page"]

# The browser itself then refuses scripts and everything from elsewhere, whatever the text holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(title: str, day: str, parts: list[Section]) -> str:
    """The whole file."""
    style = files("coterie.report").joinpath("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", raw(style)),
    )
    links = [tag("li", tag("a", part.title, href=f"#{part.id}")) for part in parts]
    contents = tag("nav", tag("ul", *links), aria_label="Contents")
    body = tag(
        "body",
        tag("header", tag("h1", title, dir="auto"), tag("p", f"Coterie report, {day}"), contents),
        tag("main", *(part.html for part in parts)),
    )
    return "<!DOCTYPE html>\n" + safe(tag("html", head, body, lang="en")) + "\n"
