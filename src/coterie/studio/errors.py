"""Requests that are refused: a kind for programs, a sentence for people, a status for HTTP."""

from __future__ import annotations

from typing import Any

from coterie.exceptions import CoterieError

__all__ = ["Refused", "as_error"]


class Refused(CoterieError):
    """A request that cannot be carried out.

    Attributes
    ----------
    kind : str
        One word; docs/studio.md lists them.
    status : int
        Of HTTP.
    extra : dict
        What else the page may want to know.
    """

    def __init__(self, kind: str, message: str, status: int = 400, **extra: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.extra = extra


#: Status of the library's own errors; all others of them are 400.
_STATUS = {
    "AnswerNotSaved": 507,
    "ContradictoryAnswer": 409,
    "NotWritten": 507,
    "AnswersInUse": 409,
}


def as_error(error: Exception) -> tuple[int, dict[str, Any]]:
    """Status and body that say what went wrong; what nobody foresaw is told without details."""
    if isinstance(error, Refused):
        return error.status, _body(error.kind, str(error), **error.extra)
    if isinstance(error, CoterieError):
        kind = type(error).__name__
        return _STATUS.get(kind, 400), _body(kind, str(error))
    if isinstance(error, MemoryError):
        return 507, _body("OutOfMemory", "There is not enough memory for this.")
    if isinstance(error, OSError):
        words = error.strerror or type(error).__name__
        return 507, _body("FileProblem", f"A file could not be read or written: {words}.")
    return 500, _body("Bug", "This should not happen; the terminal of the studio says more.")


def _body(kind: str, message: str, **extra: Any) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message, **extra}}
