"""Every error Coterie raises on purpose. All are `CoterieError`; most are also the built-in kind
a caller would expect (`ValueError`, `ImportError`), so ordinary `except` clauses keep working.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coterie.active import Answer
    from coterie.constraints import Constraints

__all__ = [
    "AnswerNotSaved",
    "AnswersInUse",
    "AnswersMismatch",
    "ApproximationWarning",
    "ContradictoryAnswer",
    "CoterieError",
    "CoterieWarning",
    "InfeasibleConstraints",
    "InfeasibleSizes",
    "InvalidCells",
    "InvalidConstraints",
    "InvalidData",
    "InvalidModel",
    "InvalidParameter",
    "LostPairs",
    "MisplacedConstraints",
    "MissingData",
    "MissingDependency",
    "OracleFailed",
    "RowsChanged",
    "TooWide",
    "UnboundedObjective",
    "UndecidedFeasibility",
    "UnknownParameter",
    "WorkersLost",
]


class CoterieError(Exception):
    """Base of every error raised on purpose by Coterie."""


class CoterieWarning(UserWarning):
    """Base of every warning raised on purpose by Coterie."""


class ApproximationWarning(CoterieWarning):
    """An answer that is approximate where an exact one might be expected; it says what to do."""


class LostPairs(CoterieWarning):
    """Most pairs fell out of a part of the rows, a fold for instance; it says what keeps them."""


class InvalidConstraints(CoterieError, ValueError):
    """A pair, weight, certainty or id that cannot be used; the message names it and the remedy."""


class InfeasibleConstraints(InvalidConstraints):
    """Hard pairs that no assignment satisfies.

    Attributes
    ----------
    conflict : Constraints or None
        A minimal set of the user's own pairs that clash: drop any one and the rest can be met.
    """

    def __init__(self, message: str, conflict: Constraints | None = None) -> None:
        super().__init__(message)
        self.conflict = conflict


class InfeasibleSizes(InfeasibleConstraints):
    """Sizes of clusters that hard pairs, or the number of rows, do not allow.

    Attributes
    ----------
    conflict : Constraints or None
        A minimal set of the user's own pairs that clash with the bounds; None where the bounds
        alone cannot be met.
    bounds : tuple of str
        Which bounds take part: "min_size", "max_size" or both.
    """

    def __init__(
        self, message: str, conflict: Constraints | None = None, bounds: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, conflict)
        self.bounds = bounds


class MisplacedConstraints(CoterieError, TypeError):
    """Constraints given as `y`, which clusterers ignore; the message shows the right call."""


class UndecidedFeasibility(CoterieError, RuntimeError):
    """Whether the hard pairs can be met was not decided within the time limit."""


class InvalidData(CoterieError, ValueError):
    """Rows that the chosen distortion or estimator cannot use; the message names row and column."""

    #: Row, column and what is wrong there, where it is one entry of X.
    entry: tuple[int, int, str] | None = None


class InvalidCells(InvalidData, TypeError):
    """Rows with something in them that is no number at all, a dict for instance."""


class RowsChanged(InvalidData):
    """A file of rows was removed or rewritten while it was in use; nothing was written."""


class WorkersLost(CoterieError, RuntimeError):
    """Workers, processes or the scheduler died at a pass, or none is left; nothing was written."""


class InvalidModel(CoterieError, ValueError):
    """A model that cannot be saved, or a model directory that cannot be loaded safely."""


class InvalidParameter(CoterieError, ValueError):
    """A parameter value that is not understood; the message lists what is."""


class UnknownParameter(CoterieError, TypeError, ValueError):
    """An estimator does not have a parameter of this name.

    Python has a TypeError for that when one is made, scikit-learn a ValueError in `set_params`.
    """


class TooWide(CoterieError, ValueError):
    """Exact elimination would need a table larger than allowed (see `coterie.inference`)."""


class UnboundedObjective(CoterieError, ValueError):
    """What was to be maximised has no maximum; the message names the remedy."""


class NotWritten(CoterieError, OSError):
    """An output that could not be written; nothing of it was left behind."""


class MissingData(CoterieError, FileNotFoundError):
    """A data set that is not bundled and was not found; the message says where to put it."""


class MissingDependency(CoterieError, ImportError):
    """An optional package that is not installed; the message says which extra to install."""


class ContradictoryAnswer(CoterieError, ValueError):
    """An answer that earlier answers rule out. Nothing was recorded: the person decides.

    Attributes
    ----------
    clash : tuple of Answer
        The earlier answers that together say the opposite.
    """

    def __init__(self, message: str, clash: tuple[Answer, ...] = ()) -> None:
        super().__init__(message)
        self.clash = clash


class OracleFailed(CoterieError, RuntimeError):
    """A program that was to answer a question could not.

    Attributes
    ----------
    retry_after : float or None
        Seconds after which it asks to be tried again.
    final : bool
        Whether trying again is pointless (a wrong key, an unknown model).
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, final: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.final = final


class AnswerNotSaved(CoterieError, OSError):
    """An answer that could not be written to the log (disk full?). The session does not have it."""


class AnswersInUse(CoterieError, OSError):
    """A log of answers that another process has open; the message says which."""


class AnswersMismatch(CoterieError, ValueError):
    """A log of answers about other data, or of a newer version; the message says what differs."""
