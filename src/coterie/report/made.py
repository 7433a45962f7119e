"""How a clustering and its report came about."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from coterie.report.blocks import Section, section, table
from coterie.report.shown import shorten
from coterie.versions import versions

__all__ = ["how_it_was_made"]

ADDRESS = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)  # differs from run to run


def how_it_was_made(model: Any, made: Mapping[str, Any] | None) -> Section:
    """Parameters of the model, what the caller knows about the run, and versions."""
    parameters = [
        [name, shorten(ADDRESS.sub("", repr(value)))]
        for name, value in sorted(model.get_params(deep=True).items())
    ]
    parts = [table(f"Parameters of {type(model).__name__}", ["name", "value"], parameters, "made")]
    if made:
        rows = [[str(name), shorten(_plain(value), 600)] for name, value in made.items()]
        parts.append(table("The run", ["what", "value"], rows, "made"))
    used = [[name, version] for name, version in versions().items()]
    parts.append(table("Versions that made this report", ["package", "version"], used, "made"))
    return section("How it was made", *parts, id_="made")


def _plain(value: Any) -> str:
    if isinstance(value, (Mapping, list, tuple)):
        return ADDRESS.sub("", json.dumps(value, ensure_ascii=False, default=str))
    return ADDRESS.sub("", str(value))
