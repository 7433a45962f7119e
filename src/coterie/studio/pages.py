"""The few pages that the server has of its own: to come in, and where there is no bundle."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

__all__ = ["PLAIN_CSS", "bundle_folder", "has_bundle", "no_bundle_page", "sign_in_page"]

PLAIN_CSS = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
input, button { font: inherit; padding: .4rem .7rem; }
code { font: .95em ui-monospace, monospace; }
p.wrong { border-inline-start: .25rem solid #c33; padding-inline-start: .7rem; }
"""

_FORM = """<form method="post" action="/login">
<p><label>Password <input type="password" name="password" autocomplete="current-password"
autofocus required></label> <button>Come in</button></p>
</form>"""


def bundle_folder() -> Path:
    """Where the built page is, if it was built."""
    return Path(str(files("coterie.studio") / "static"))


def has_bundle() -> bool:
    """Whether it was."""
    return (bundle_folder() / "index.html").is_file()


def sign_in_page(has_password: bool, wrong: str = "") -> str:
    """For browsers without a cookie: it shows nothing of the data."""
    told = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    how = (
        _FORM
        if has_password
        else "<p>Open the address that <code>coterie studio</code> has printed in its terminal: it "
        "ends in <code>?token=…</code> and changes with every start.</p>"
    )
    return _page("Coterie Studio", f"{told}{how}")


def no_bundle_page() -> str:
    """For clones in which the page was never built."""
    return _page(
        "The page is not built",
        "<p>The server runs, but its page is not there. In a clone of the repository, run "
        "<code>make studio</code> once (it takes Node from the package index where there is none) "
        "and reload. What is installed from a wheel has the page in it.</p>",
    )


def _page(title: str, content: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">'
        '<link rel="stylesheet" href="/plain.css"></head>'
        f"<body><main><h1>{escape(title)}</h1>{content}</main></body></html>\n"
    )
