"""Outputs that may be written: looked at before any work is done."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

import click

from coterie.exceptions import NotWritten
from coterie.files import check_replaceable

__all__ = ["ask_or_refuse", "check_target"]


def check_target(path: Path, force: bool, what: str = "file") -> None:
    """Refuse, before any work is done, an output that exists or whose folder is not there."""
    if not path.parent.is_dir():
        raise NotWritten(f"{path.parent} is not a folder; make it first.")
    if path.is_dir() and what == "file":
        raise NotWritten(f"{path} is a folder; give the name of a file.")
    check_replaceable(path)
    if os.path.lexists(path) and not force:
        raise NotWritten(f"{path} exists; choose another name, or overwrite it with --force.")
    if not os.access(path.parent, os.W_OK):
        raise NotWritten(f"{path.parent} cannot be written to.")


def ask_or_refuse(path: Path, force: bool) -> bool:
    """Whether an existing output may be overwritten: by `--force`, or by a yes on a terminal."""
    if force or not os.path.lexists(path) or not _stdin().isatty():
        return force
    return click.confirm(f"{path} exists. Overwrite it?", err=True)


def _stdin() -> TextIO:
    """The standard input at this moment; tests put a terminal in its place."""
    return sys.stdin
