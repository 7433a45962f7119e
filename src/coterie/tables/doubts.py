"""Pairs that a fitted model doubts, or broke, with the records of both rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coterie.constraints import Constraints, PairTable
from coterie.exceptions import InvalidConstraints, InvalidParameter
from coterie.tables.fitted import Fitted
from coterie.tables.records import choose_fields
from coterie.tables.table import Table

__all__ = ["DoubtfulPair", "Doubts", "doubtful_pairs"]

_DOUBTED = 0.01  # below it, a pair is right 99 times of 100
_KINDS = {1: "must", -1: "cannot"}


class DoubtfulPair(NamedTuple):
    """A pair in the user's ids.

    Attributes
    ----------
    a, b : str
        Ids of the rows.
    kind : str
        What the pairs say: "must" or "cannot".
    value : float
        See `Doubts.measure`.
    a_cluster, b_cluster : int
    a_record, b_record : dict of str to str
        The fields of both rows; "" where there is no value.
    """

    a: str
    b: str
    kind: str
    value: float
    a_cluster: int
    b_cluster: int
    a_record: dict[str, str]
    b_record: dict[str, str]


@dataclass(frozen=True)
class Doubts:
    """The pairs that a model doubts most, worst first.

    Attributes
    ----------
    measure : str
        What the value of a pair is: "p_wrong", the probability that it is wrong, or, of models
        that do not weigh pairs, "cost", that of having broken it.
    n_pairs : int
        How many pairs the model was fitted with.
    fields : list of str
        The columns that are shown of both rows.
    pairs : list of DoubtfulPair
    """

    measure: str
    n_pairs: int
    fields: list[str]
    pairs: list[DoubtfulPair]

    def to_table(self) -> Table:
        """Columns a, b and kind first, so that the file can be used as pairs again."""
        texts = {name: [getattr(pair, name) for pair in self.pairs] for name in ("a", "b", "kind")}
        columns: dict[str, Any] = {
            name: np.array(column, dtype=object) for name, column in texts.items()
        }
        columns[self.measure] = np.array([pair.value for pair in self.pairs], dtype=float)
        for end in ("a_cluster", "b_cluster"):
            columns[end] = np.array([getattr(pair, end) for pair in self.pairs], dtype=np.int64)
        for name in self.fields:
            for end in ("a", "b"):
                cells = [getattr(pair, f"{end}_record")[name] for pair in self.pairs]
                columns[f"{end}: {name}"] = np.array(cells, dtype=object)
        return Table.of("suspects", columns)


def doubtful_pairs(fitted: Fitted, number: int = 10, fields: Sequence[str] = ()) -> Doubts:
    """The pairs a model doubts most (`suspect_pairs`, where it has it), else those it broke.

    A pair that is wrong with a probability below 0.01 is not doubted, and is left out.

    Parameters
    ----------
    fitted : Fitted
        With the pairs of the fit: a pair that the model knows and they do not say is an error.
    number : int, default 10
        How many pairs at most.
    fields : sequence of str
        Columns to show of both rows; see `choose_fields`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from coterie import PCKMeans
    >>> from coterie.tables import Choices, Fitted, doubtful_pairs, read_inputs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("name,height\\nann,1.6\\nbob,1.9\\ncid,1.8\\n")
    >>> _ = (folder / "pairs.csv").write_text("a,b,kind\\nbob,cid,must\\nann,bob,must\\n")
    >>> inputs = read_inputs(folder / "people.csv", folder / "pairs.csv", Choices("name"))
    >>> model = PCKMeans(2, w=0.001, random_state=0)
    >>> model = model.fit(inputs.X, constraints=inputs.constraints)
    >>> doubts = doubtful_pairs(Fitted.of(model, inputs))
    >>> doubts.measure, [(pair.a, pair.b, pair.kind) for pair in doubts.pairs]
    ('cost', [('ann', 'bob', 'must')])
    >>> doubts.pairs[0].a_record
    {'height': '1.6'}
    """
    if fitted.constraints is None:
        raise InvalidParameter("doubtful pairs are those of a fit: give the `pairs` it was given.")
    model = fitted.bundle.model
    weighs = hasattr(model, "suspect_pairs")
    found: PairTable = model.suspect_pairs(number) if weighs else model.violations_[:number]
    if weighs:
        found = found[found.value >= _DOUBTED]
    _check_known(found, fitted.constraints, fitted.ids)
    shown = choose_fields(fitted.table, fitted.bundle.recipe, fields)
    pairs = [_describe(fitted, pair, shown) for pair in found]
    return Doubts("p_wrong" if weighs else "cost", fitted.constraints.n_pairs, shown, pairs)


def _check_known(found: PairTable, known: Constraints, ids: Sequence[str]) -> None:
    """Refuse `known` if the model was fitted with a pair that it does not hold."""
    n = known.n_samples
    # One number for each pair and kind: i < j, so that it is not 0 and the sign can be the kind.
    keys = (known.pairs[:, 0] * n + known.pairs[:, 1]) * known.kind
    lost = np.flatnonzero(~np.isin((found.i * n + found.j) * found.kind, keys))
    if lost.size:
        i, j, kind, _ = found[int(lost[0])]
        raise InvalidConstraints(
            f"The model was fitted with {ids[i]!r} and {ids[j]!r} as {_KINDS[kind]}, which `pairs` "
            "does not say: give the pairs it was fitted with."
        )


def _describe(fitted: Fitted, pair: Any, fields: list[str]) -> DoubtfulPair:
    def cells(row: int) -> dict[str, str]:
        found = {name: fitted.table.columns[name].cells(row, row + 1)[0] for name in fields}
        return {name: "" if value is None else str(value) for name, value in found.items()}

    labels = fitted.bundle.model.labels_
    return DoubtfulPair(
        fitted.ids[pair.i],
        fitted.ids[pair.j],
        _KINDS[pair.kind],
        pair.value,
        int(labels[pair.i]),
        int(labels[pair.j]),
        cells(pair.i),
        cells(pair.j),
    )
