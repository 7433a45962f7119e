"""What a command clusters: a table, the features made of it, and the pairs about its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from coterie.cli._command import Talk
from coterie.cli._pairs import describe_conflict, read_pairs
from coterie.cli._reading import read_table
from coterie.cli._recipe import Choices, Recipe
from coterie.cli._table import Table
from coterie.cli._watch import watched
from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidData, InvalidParameter

__all__ = [
    "Inputs",
    "fit_estimator",
    "fit_model",
    "in_users_words",
    "read_inputs",
    "with_confidence",
]


_SHOWN = 5  # names in a note


class Inputs(NamedTuple):
    """A table, its ids, its features X (n, d) with their recipe, and the pairs."""

    table: Table
    ids: Sequence[str]
    recipe: Recipe
    X: Any
    pairs: Constraints


def read_inputs(
    talk: Talk, data: Path, pairs: Path | None, choices: Choices, *, hard: bool = False
) -> Inputs:
    """Read the data and the pairs (none if no file is given) and learn the recipe."""
    table = read_table(data)
    ids = table.ids(choices.id_column)
    if choices.id_column is not None:
        table = table.named(ids)
    recipe = Recipe.learn(table, choices)
    X, notes = recipe.apply(table)
    for note in [*notes, *_constant(table, recipe, X)]:
        talk.note(note)
    try:
        known = (
            Constraints(table.n_rows)
            if pairs is None
            else read_pairs(pairs, ids, by_id=choices.id_column is not None)
        )
        if hard:
            known = known.as_hard()
    except InfeasibleConstraints as error:
        raise in_users_words(error, ids) from error
    if pairs is not None and not known.n_pairs:
        talk.note(f"{pairs} holds no pairs")
    return Inputs(table, ids, recipe, X, known)


def _constant(table: Table, recipe: Recipe, X: Any) -> list[str]:
    """A note about features that say nothing; refused if that is all of them."""
    names = recipe.constant(X) if table.n_rows > 1 else []
    if len(names) == X.shape[1]:
        raise InvalidData(f"{table.source}: all rows are alike in every column that is used.")
    more = ", …" if len(names) > _SHOWN else ""
    return [f"the same in every row: {', '.join(names[:_SHOWN])}{more}"] if names else []


def fit_model(
    talk: Talk, estimator: Any, inputs: Inputs, clusters: int | None, *, takes_pairs: bool = True
) -> bool:
    """Fit with a progress bar; True if Ctrl-C ended it early with the best so far."""
    with watched(talk, type(estimator).__name__) as interruption:
        fit_estimator(estimator, inputs, clusters, takes_pairs=takes_pairs)
    return interruption.ended


def fit_estimator(
    estimator: Any, inputs: Inputs, clusters: int | None, *, takes_pairs: bool = True
) -> None:
    """Fit; pairs that cannot be kept are named by the user's ids."""
    if clusters is not None and clusters > inputs.table.n_rows:
        raise InvalidParameter(
            f"-k {clusters}: there are only {inputs.table.n_rows} rows; ask for fewer clusters."
        )
    if sparse.issparse(inputs.X) and not get_tags(estimator).input_tags.sparse:
        raise InvalidData(
            f"{inputs.table.source}: {type(estimator).__name__} does not take sparse rows, which "
            "text and sparse arrays are; choose another method, for instance mosaic."
        )
    given = {"constraints": inputs.pairs} if takes_pairs else {}
    try:
        estimator.fit(inputs.X, **given)
    except InfeasibleConstraints as error:
        raise in_users_words(error, inputs.ids, clusters) from error


def with_confidence(model: Any, X: Any, labels: Any, *, new: bool) -> dict[str, Any]:
    """The columns of the output: cluster (n,), and P(cluster) where the model has one.

    For the rows it was fitted to (not `new`) that takes their pairs into account, where it can.
    """
    if hasattr(model, "resp_") and not new:
        shares = model.resp_
    elif hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
    else:
        return {"cluster": labels}
    return {"cluster": labels, "confidence": np.asarray(shares)[np.arange(len(labels)), labels]}


def in_users_words(
    error: InfeasibleConstraints, ids: Sequence[str], clusters: int | None = None
) -> InfeasibleConstraints:
    """The same error with its pairs named by the user's ids."""
    return InfeasibleConstraints(describe_conflict(error, ids, clusters), error.conflict)
