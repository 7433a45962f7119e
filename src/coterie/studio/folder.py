"""The tables of the session's folder, which is all that a request can reach."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

from coterie.studio.errors import Refused

__all__ = ["ENDINGS", "files", "find", "free_name"]

_PLAIN = (".csv", ".tsv", ".jsonl")
#: How the names of tables end that a page can open.
ENDINGS = (*_PLAIN, *(f"{end}.gz" for end in _PLAIN), ".xlsx", ".parquet", ".feather", ".arrow")
_NAME = re.compile(r"\w[\w. ()\[\]&,;'+=@#!-]{0,99}")  # letters of any script; no sign of a path
_MOST_NAME = 200  # bytes: file systems take 255, and the log has a longer name


def files(folder: Path) -> list[dict[str, Any]]:
    """Tables in the folder itself; hidden ones and links to elsewhere are not among them."""
    base = folder.resolve()
    found = []
    for path in sorted(base.iterdir()):
        is_table = path.name.lower().endswith(ENDINGS) and not path.name.startswith(".")
        if is_table and path.is_file() and path.resolve().parent == base:
            found.append({"name": path.name, "bytes": path.stat().st_size})
    return found


def find(folder: Path, name: str) -> Path:
    """The table of this name in the folder: only what is listed can be opened."""
    if name not in [entry["name"] for entry in files(folder)]:
        raise Refused("NotFound", "There is no table of this name in the folder.", 404)
    return folder.resolve() / name


def free_name(folder: Path, name: str) -> Path:
    """Where an upload of this name goes: a new file, numbered if the name is taken."""
    name = unicodedata.normalize("NFC", name)  # some systems write ü as two letters
    plain = _NAME.fullmatch(name) and ".." not in name and name.strip() == name
    if not plain or len(name.encode()) > _MOST_NAME:
        raise Refused(
            "InvalidRequest",
            "The name of a file may have up to 100 letters, digits, spaces and signs, none of "
            '/ \\ : * ? " < > |, and no point at its beginning. Rename it and try again.',
            field="name",
        )
    ending = next((s for s in ENDINGS if name.lower().endswith(s)), None)
    if ending is None:
        told = f"A table whose name ends in {', '.join(ENDINGS)} can be opened; this one does not."
        raise Refused("InvalidRequest", told, field="name")
    stem, number = name[: -len(ending)], 1
    path = folder / name
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{name[-len(ending) :]}"
    return path
