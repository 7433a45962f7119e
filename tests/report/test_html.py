"""Text never becomes markup."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from report.pages import Page

from coterie.report.html import FORBIDDEN, joined, raw, safe, tag

TEXT = st.text(st.characters(exclude_categories=[]), max_size=40)


@given(TEXT, TEXT)
def test_text_comes_back_as_it_was(inside, attribute):
    page = Page(tag("p", inside, title=attribute))
    assert page.tags == ["p"]
    assert "".join(text for _, text in page.pieces) == FORBIDDEN.sub("\ufffd", inside)
    assert page.values("title") == [FORBIDDEN.sub("\ufffd", attribute)]


@given(TEXT)
def test_every_page_can_be_stored(text):
    tag("p", text).encode("utf-8")


def test_markup_is_not_escaped_twice():
    assert tag("p", tag("b", "<"), " & ", raw("<br>")) == "<p><b>&lt;</b> &amp; <br></p>"
    assert safe(safe("<")) == "&lt;"
    assert joined(["<", None, tag("i")], ", ") == "&lt;, <i></i>"


def test_attributes():
    assert tag("p", class_="a", aria_label='"', id=None) == '<p class="a" aria-label="&quot;"></p>'
    assert tag("meta", name_="x") == '<meta name="x">'
