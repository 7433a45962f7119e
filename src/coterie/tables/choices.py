"""What the user says about the columns, and which of them are used."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from coterie.exceptions import InvalidData, InvalidParameter
from coterie.parameters import check_arguments
from coterie.tables.formats import DATES, DURATION, NUMBERS
from coterie.tables.table import Table
from coterie.words import nearest

__all__ = ["KINDS", "VECTORS", "Choices", "chosen"]

VECTORS = "vectors"  # the column that an array file beside the table becomes
# What `columns` may call a column, and what is then done with it.
KINDS = {
    "number": "a number; number/comma and number/point say what stands before decimals, "
    "number/duration that 1:30 is how long something took",
    "category": "one feature for each value",
    "date": "a number and cycles; date/dmy and date/mdy say in which order",
    "text": "its topics: tf-idf of words or letters, then 100 dimensions",
    "words": "tf-idf of its words, one feature for each",
    "vector": "a list of numbers, one feature for each",
    "id": "the id of the row",
    "drop": "not used",
}


class Choices(NamedTuple):
    """What the user says about the columns.

    Attributes
    ----------
    id_column : str or None
    features, drop : sequence of str
        Use only these, or all but these.
    categorical : sequence of str
        One-hot, however many values there are and even if they look like numbers.
    text : str, sequence of str or None
        Columns of text; used alone unless others are named.
    scale : bool
        Numbers to mean 0 and standard deviation 1.
    impute : bool
        Missing numbers by the mean, missing categories by the most frequent one.
    truth : str or None
        Column of the true classes, which is never clustered by.
    columns : mapping of str to str
        What columns are, of `KINDS`, where it should not be found out.
    missing : sequence of str or None
        Texts that say that there is no value, beside empty cells; None: NA, NaN, null and the like.
    where : sequence of str
        Conditions, all of which the rows used fulfil: see `coterie.tables.kept_rows`.
    vectors : path-like or None
        An .npy file with a vector for every row of the table; used alone unless others are named.
    gaps : bool
        Missing numbers stay (NaN), for estimators that take them.
    """

    id_column: str | None = None
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    text: str | Sequence[str] | None = None
    scale: bool = False
    impute: bool = False
    truth: str | None = None
    columns: Mapping[str, str] = MappingProxyType({})
    missing: Sequence[str] | None = None
    where: Sequence[str] = ()
    vectors: str | os.PathLike[str] | None = None
    gaps: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that `text` names."""
        if self.text is None:
            return ()
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    def kind_of(self, name: str) -> str:
        """What the user says that a column is; "" for nothing."""
        if name in self.texts:
            return "text"
        return "category" if name in self.categorical else self.columns.get(name, "")

    def settled(self) -> Choices:
        """The same with ids and columns to drop taken from `columns`, whose kinds are checked."""
        check_arguments(Choices, self._asdict())
        for name, kind in self.columns.items():
            base, _, form = str(kind).partition("/")
            forms = {"number": (*NUMBERS, DURATION), "date": DATES}.get(base, ())
            if base not in KINDS or (form and form not in forms):
                raise InvalidParameter(
                    f"`columns`: {name!r} cannot be {kind!r}.{nearest(base, KINDS)} A column is "
                    f"one of {', '.join(KINDS)}; or {', '.join(_FORMS)}."
                )
        ids = [name for name, kind in self.columns.items() if kind == "id"]
        if len({*ids, self.id_column} - {None}) > 1:
            raise InvalidParameter("only one column can be the id of the rows.")
        dropped = [name for name, kind in self.columns.items() if kind == "drop"]
        return self._replace(
            id_column=ids[0] if ids else self.id_column, drop=(*self.drop, *dropped)
        )


_FORMS = ("number/comma", "number/point", "number/duration", "date/dmy", "date/mdy")


def chosen(table: Table, choices: Choices) -> list[str]:
    """Names of the columns to use, in the order of the file."""
    for option, names in (
        ("`features`", choices.features),
        ("`drop`", choices.drop),
        ("`categorical`", choices.categorical),
        ("`text`", choices.texts),
        ("`columns`", choices.columns),
    ):
        for name in names:
            table.column(name, option)
    if choices.features and set(choices.drop) - set(choices.columns):
        raise InvalidParameter("give `features` or `drop`, not both.")
    kinds = {name for name, kind in choices.columns.items() if kind not in ("id", "drop")}
    asked = {*choices.texts, *([VECTORS] if choices.vectors is not None else [])}
    if choices.features:
        wanted = {*choices.features, *choices.categorical, *kinds, *asked}
    elif asked and not choices.categorical:
        wanted = asked | kinds  # enough by themselves; others beside them are asked for by name
    else:
        wanted = (set(table.columns) | asked) - set(choices.drop)
    wanted -= {choices.id_column, choices.truth}
    names = [name for name in table.columns if name in wanted]
    if not names:
        raise InvalidData(f"{table.source}: no column is left to cluster by.")
    return names
