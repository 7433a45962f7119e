"""Files in, fitted model out, with notes and a progress bar on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy import sparse
from sklearn.utils import get_tags

from coterie.cli._streaming import Reading
from coterie.cli.command import Talk
from coterie.cli.watch import shown, watched
from coterie.data import StoredRows, unpacked
from coterie.exceptions import InfeasibleConstraints, InvalidData, InvalidParameter
from coterie.tables import (
    Choices,
    Inputs,
    StoredInputs,
    name_conflict,
    read_inputs,
    stream_inputs,
)
from coterie.tables.places import telling_places
from coterie.words import counted

__all__ = ["check_fits", "fit_model", "open_inputs", "open_stored"]


def open_inputs(
    talk: Talk,
    data: Path,
    pairs: Path | None,
    choices: dict[str, Any],
    *,
    hard: bool = False,
    exclusive: str | None = None,
    estimator: Any = None,
) -> Inputs:
    """What `read_inputs` reads, its notes told; `choices` are the options about columns.

    Missing numbers stay where the estimator takes them.
    """
    chosen = Choices(**choices, gaps=_takes_gaps(estimator))
    inputs = read_inputs(data, pairs, chosen, hard=hard, exclusive=exclusive)
    _tell(talk, inputs.notes)
    return inputs


def open_stored(
    talk: Talk,
    reading: Reading,
    pairs: Path | None,
    choices: dict[str, Any],
    *,
    hard: bool = False,
    estimator: Any = None,
    scratch: Path | None = None,
) -> StoredInputs:
    """What `stream_inputs` finds, told that it is read a stretch at a time.

    With `scratch` the features are written to a temporary file in that folder and read from it.
    """
    talk.note(reading.note())
    chosen = Choices(**choices, gaps=_takes_gaps(estimator))
    with shown(talk, "Reading"):
        inputs = stream_inputs(reading.paths, pairs, chosen, hard=hard)
    _tell(talk, inputs.notes)
    if scratch is None:
        return inputs
    if inputs.X.is_sparse:
        raise InvalidParameter(
            "--scratch is for numbers, and words of texts are kept as counts; leave it out."
        )
    with shown(talk, "Putting numbers aside", blocks=True):
        return inputs._replace(X=unpacked(inputs.X, scratch))


def _takes_gaps(estimator: Any) -> bool:
    return estimator is not None and bool(get_tags(estimator).input_tags.allow_nan)


def _tell(talk: Talk, notes: Sequence[str]) -> None:
    for note in notes:
        talk.note(str(note))


def fit_model(
    talk: Talk,
    estimator: Any,
    inputs: Inputs | StoredInputs,
    clusters: int | None,
    *,
    takes_pairs: bool = True,
) -> bool:
    """Fit with a progress bar; True if Ctrl-C ended it early with the best so far.

    Pairs that cannot be kept are named by the user's ids, entries that cannot be used by their
    place in the file.
    """
    check_fits(estimator, inputs, clusters)
    given = {"constraints": inputs.constraints} if takes_pairs else {}
    stored = isinstance(inputs, StoredInputs)
    with (
        telling_places(inputs.table, inputs.recipe, inputs.ids),
        watched(talk, type(estimator).__name__, blocks=stored) as interruption,
    ):
        try:
            estimator.fit(inputs.X, **given)
        except InfeasibleConstraints as error:
            raise name_conflict(error, inputs.ids, clusters) from error
    return interruption.ended


def check_fits(estimator: Any, inputs: Inputs | StoredInputs, clusters: int | None) -> None:
    """Refuse, in the words of the command line, what the estimator could not be fitted to."""
    n_rows = len(inputs.ids)
    if clusters is not None and clusters > n_rows:
        are = "is" if n_rows == 1 else "are"
        raise InvalidParameter(
            f"-k {clusters}: there {are} only {counted(n_rows, 'row')}; ask for fewer clusters."
        )
    X = inputs.X
    is_sparse = X.is_sparse if isinstance(X, StoredRows) else sparse.issparse(X)
    if is_sparse and not get_tags(estimator).input_tags.sparse:
        raise InvalidData(
            f"{inputs.table.source}: {type(estimator).__name__} does not take sparse rows, which "
            "text and sparse arrays are; choose another method, for instance mosaic."
        )
