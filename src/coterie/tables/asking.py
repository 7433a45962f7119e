"""From a table to a session that asks about it: what `coterie ask` and the studio begin with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from coterie.active import STRATEGIES, ActiveSession, AnswerStore, RecordQuestions, make_strategy
from coterie.active.log.row_ids import fingerprint
from coterie.constraints import Constraints
from coterie.exceptions import AnswersMismatch, InvalidData, InvalidParameter
from coterie.tables.choices import Choices
from coterie.tables.inputs import Inputs, read_inputs
from coterie.tables.places import telling_places
from coterie.tables.recipe import Recipe
from coterie.tables.record_inputs import RecordChoices, RecordInputs, read_records, row_marks
from coterie.tables.records import choose_fields
from coterie.tables.row_texts import ColumnTexts, row_contents
from coterie.tables.table import Table

__all__ = [
    "Asking",
    "ask_about_records",
    "ask_about_rows",
    "choose_questions",
    "fit_model",
    "open_session",
]

_MOST_FIELDS = 12


class Asking(NamedTuple):
    """What a session is made from.

    Attributes
    ----------
    table : Table
    ids : sequence of str
    by_id : bool
        Whether a column holds the ids; a log is then bound to them.
    X : (n, d) ndarray or CSR
        The features; of records a mark for each, which has no place in any space.
    constraints : Constraints
        What is known already.
    how : dict
        Strategy and estimator, for `ActiveSession`.
    fields : list of str
        The columns that are shown.
    recipe : Recipe or None
        How columns became features; None for records.
    compared : dict or None
        Of records, the columns that are compared.
    notes : list of str
        What the user should know and is no error.
    """

    table: Table
    ids: Sequence[str]
    by_id: bool
    X: Any
    constraints: Constraints
    how: dict[str, Any]
    fields: list[str]
    recipe: Recipe | None
    compared: dict[str, NDArray[Any]] | None
    notes: list[str]


def ask_about_rows(
    data: str | os.PathLike[str],
    pairs: str | os.PathLike[str] | None = None,
    choices: Choices | None = None,
    *,
    strategy: str | None = None,
    n_clusters: int | None = None,
    error_rate: float | None = None,
    fields: Sequence[str] = (),
) -> Asking:
    """Rows that are clustered by their features.

    Parameters
    ----------
    data, pairs, choices
        As in `read_inputs`.
    strategy, n_clusters, error_rate
        As in `choose_questions`.
    fields : sequence of str
        Columns to show; see `choose_fields`.
    """
    how = choose_questions(strategy, n_clusters, error_rate)
    inputs: Inputs = read_inputs(data, pairs, choices)
    table = inputs.table
    if not table.columns:
        raise InvalidData(f"{table.source} is an array file; asking needs named columns to show.")
    _refuse_few(table)
    table.forget_numbers()  # the features hold them
    id_column = inputs.recipe.id_column
    return Asking(
        table,
        inputs.ids if id_column is None else ColumnTexts(table.column(id_column)),
        id_column is not None,
        inputs.X,
        inputs.constraints,
        how,
        choose_fields(table, inputs.recipe, fields),
        inputs.recipe,
        None,
        [str(note) for note in inputs.notes],
    )


def ask_about_records(
    data: str | os.PathLike[str],
    pairs: str | os.PathLike[str] | None = None,
    choices: RecordChoices | None = None,
    *,
    error_rate: float | None = None,
    fields: Sequence[str] = (),
) -> Asking:
    """Records of the same people or things, compared field by field; parameters as above."""
    chosen = choices or RecordChoices()
    inputs: RecordInputs = read_records(data, pairs, chosen)
    _refuse_few(inputs.table)
    strategy = RecordQuestions(
        inputs.columns,
        fields=inputs.kinds,
        exclusive=inputs.exclusive,
        error_rate="estimate" if error_rate is None else error_rate,
    )
    return Asking(
        inputs.table,
        inputs.ids,
        chosen.id_column is not None,
        row_marks(inputs.columns),
        inputs.constraints,
        {"strategy": strategy},
        list(fields) or list(inputs.columns)[:_MOST_FIELDS],
        None,
        inputs.columns,
        [],
    )


def choose_questions(
    strategy: str | None = None, n_clusters: int | None = None, error_rate: float | None = None
) -> dict[str, Any]:
    """Strategy and estimator: with K known the papers' two phases, else one that needs no K.

    >>> from coterie.tables import choose_questions
    >>> choose_questions()
    {'strategy': InformationGain(error_rate='estimate')}
    """
    name = strategy or ("information" if n_clusters is None else "explore-consolidate")
    made = STRATEGIES[name]
    if n_clusters is None and not made.counts:
        raise InvalidParameter(
            f"`strategy` {name} needs the number of clusters: give `n_clusters`."
        )
    if n_clusters is not None and made.clusters:
        raise InvalidParameter(
            f"`strategy` {name} counts the clusters itself: leave `n_clusters` out."
        )
    settings: dict[str, Any] = {} if error_rate is None else {"error_rate": error_rate}
    how = {"strategy": make_strategy(name, n_clusters=n_clusters, **settings)}
    if made.clusters:
        return how
    from coterie.cluster import PCKMeans

    # Without K the session tells the estimator how many clusters the strategy has found.
    given: dict[str, Any] = {} if n_clusters is None else {"n_clusters": n_clusters}
    return {**how, "estimator": PCKMeans(**given, random_state=0)}


def open_session(
    asking: Asking, store: AnswerStore | None, data: str | os.PathLike[str], **rest: Any
) -> ActiveSession:
    """The session of this log; one without ids, about other features, is refused with the way on.

    With an id column the log is bound to ids, whatever becomes of the rows. `rest` goes to
    `ActiveSession`.
    """
    ids = asking.ids if asking.by_id else None
    # Features change with every row where columns are scaled; what a row says does not.
    by_features = ids is not None and asking.recipe is not None
    try:
        with telling_places(asking.table, asking.recipe, asking.ids):
            return ActiveSession(
                asking.X,
                constraints=asking.constraints,
                store=store,
                ids=ids,
                contents=row_contents(asking.table) if by_features else None,
                **asking.how,
                **rest,
            )
    except AnswersMismatch as error:
        if store is None or ids is not None or store.facts.get("data") == fingerprint(asking.X):
            raise  # other ids, or another seed
        raise AnswersMismatch(
            f"{store.path} holds answers about other rows, or about {data} with its columns used "
            "in another way: give the data and the options (--features, --drop, --text, --scale, "
            "...) that it was begun with. (The first coterie ask used columns in a way of its own, "
            "so its logs end here.) Or begin a new log with --answers, and take the answers along "
            f"with --constraints {data}.constraints.csv."
        ) from error


def fit_model(asking: Asking, constraints: Constraints, n_found: int | None = None) -> Any:
    """A model of its own, fitted with what was answered: for new rows, where it can place them.

    The estimator of the session where it has one, else K-Means with pairs for as many clusters as
    were found; for records a `Dossier`.

    Parameters
    ----------
    asking : Asking
    constraints : Constraints
        `session.constraints`.
    n_found : int, optional
        `session.n_found`.
    """
    from sklearn.base import clone

    from coterie.cluster import PCKMeans
    from coterie.records import Dossier

    if asking.compared is not None:
        strategy: RecordQuestions = asking.how["strategy"]
        dossier = Dossier(fields=strategy.fields, exclusive=strategy.exclusive)
        return dossier.fit(asking.compared, constraints=constraints)
    given = asking.how.get("estimator")
    model = PCKMeans(random_state=0) if given is None else clone(given)
    if n_found is not None:
        model.set_params(n_clusters=max(n_found, 1))
    return model.fit(asking.X, constraints=constraints)


def _refuse_few(table: Table) -> None:
    if table.n_rows < 2:
        raise InvalidData(f"{table.source} holds fewer than two records.")
