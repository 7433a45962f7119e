"""What the studio remembers beside the answers: guidelines, doubts looked at, how it was opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from coterie.files import new_file

__all__ = ["Notebook", "notes_beside", "recalled"]


class Notebook:
    """A small JSON file beside the log; without a path it is forgotten at the end.

    Attributes
    ----------
    guidelines : str
        What those who answer should know.
    kept : set of tuple of int
        Numbers of answers that were looked at together and stay.
    opened : dict or None
        What was said about the table when it was opened, for the next time.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        found = _read(path)
        text = found.get("guidelines")
        self.guidelines: str = text if isinstance(text, str) else ""
        kept: Any = found.get("kept")
        self.kept: set[tuple[int, ...]] = set(map(tuple, kept if _is_kept(kept) else ()))
        self.opened = _said(found)

    def write(self, text: str) -> None:
        """Other guidelines."""
        before, self.guidelines = self.guidelines, text
        self._save_or(lambda: setattr(self, "guidelines", before))

    def remember(self, said: dict[str, Any]) -> None:
        """How the table was opened."""
        said = json.loads(json.dumps(said, default=lambda path: str(Path(path).resolve())))
        before, self.opened = self.opened, said
        if said != before:
            self._save_or(lambda: setattr(self, "opened", before))

    def keep(self, numbers: list[int]) -> None:
        """These answers stay, though they are doubtful."""
        entry = tuple(sorted(numbers))
        if entry not in self.kept:
            self.kept.add(entry)
            self._save_or(lambda: self.kept.discard(entry))

    def _save_or(self, restore: Any) -> None:
        if self._path is None:
            return
        content = {
            "guidelines": self.guidelines,
            "kept": sorted(map(list, self.kept)),
            "opened": self.opened,
        }
        try:
            with new_file(self._path) as temporary:
                temporary.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        except BaseException:
            restore()
            raise


def notes_beside(log: Path) -> Path:
    """Where the notes of a log are."""
    return log.with_suffix(".studio.json")


def recalled(path: Path) -> dict[str, Any] | None:
    """How a table was opened the last time, if its notes say so."""
    return _said(_read(path))


def _said(found: dict[str, Any]) -> dict[str, Any] | None:
    said = found.get("opened")
    known = {"choices", "records", "n_clusters", "strategy"}
    known |= {"error_rate", "budget", "seed", "fields"}
    whole = isinstance(said, dict) and set(said) == known and isinstance(said["choices"], dict)
    return said if whole else None


def _read(path: Path | None) -> dict[str, Any]:
    if path is None or not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # only comfort is lost: the answers are in the log
    return found if isinstance(found, dict) else {}


def _is_kept(kept: Any) -> bool:
    return isinstance(kept, list) and all(
        isinstance(numbers, list) and all(isinstance(n, int) for n in numbers) for numbers in kept
    )
