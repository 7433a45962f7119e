"""A page as a browser would read it: which elements, which text, which attributes."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br"}


class Page(HTMLParser):
    """Parsed HTML. Fails on elements that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.pieces: list[tuple[str, str]] = []  # (innermost element, text)
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"never closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> closes <{self._open[-1]}>"
        self._open.pop()

    def handle_data(self, data):
        self.pieces.append((self._open[-1] if self._open else "", data))

    @property
    def text(self) -> str:
        """All text but the style sheet."""
        return " ".join(" ".join(text for tag, text in self.pieces if tag != "style").split())

    def headings(self, level: int = 2) -> list[str]:
        return [text for tag, text in self.pieces if tag == f"h{level}"]

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    def values(self, name: str) -> list[str]:
        """Of an attribute, wherever it is."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def with_class(self, name: str) -> list[dict[str, str]]:
        """Attributes of the elements of a class."""
        return [a for _, a in self.elements if name in a.get("class", "").split()]
