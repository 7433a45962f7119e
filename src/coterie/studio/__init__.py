"""Coterie Studio: answer, look and mend in a browser or a notebook.

`Studio` does all that a page can ask for, without any network; `serve` puts it behind HTTP.
"""

from __future__ import annotations

from coterie.studio.core import Studio
from coterie.studio.errors import Refused

__all__ = ["Refused", "Studio"]
