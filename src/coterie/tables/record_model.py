"""A fitted `Dossier` and what is known of its table, for `coterie predict`, `report`, `--like`.

The folder is what `coterie.save` writes, and records.json in it: the id column and the ids.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import persistence
from coterie.exceptions import InvalidData, InvalidModel
from coterie.files import new_file
from coterie.records import Dossier
from coterie.tables.record_inputs import column_values
from coterie.tables.table import RowNumbers, Table

__all__ = ["RecordModel", "is_record_model", "load_record_model", "save_record_model"]

_FILE = "records.json"
_FORMAT = {"format": "coterie-records", "format_version": 1}


@dataclass(frozen=True)
class RecordModel:
    """A fitted model of records.

    Attributes
    ----------
    model : Dossier
    id_column : str or None
    ids : sequence of str or None
        The id of every record of the fit, if they have some.
    """

    model: Dossier
    id_column: str | None = None
    ids: Sequence[str] | None = None

    def columns(self, table: Table) -> dict[str, NDArray[Any]]:
        """What the model compares, from a table; the column of exclusive groups, too."""
        names = [field.name for field in self.model.fields_]
        lost = [name for name in names if name not in table.columns]
        if lost:
            raise InvalidData(
                f"{table.source} has no column {lost[0]!r}; the model compares {', '.join(names)}."
            )
        found = {name: column_values(table.column(name)) for name in names}
        group = self.model.exclusive
        if isinstance(group, str):  # records of a table without it are of no group
            none = np.full(table.n_rows, "", dtype=object)
            found[group] = table.column(group).texts() if group in table.columns else none
        return found

    def predict(self, table: Table) -> NDArray[np.int64]:
        """The cluster of every new record, (n,); −1 for one that is like none."""
        return self.model.predict(self.columns(table))

    def ids_of(self, table: Table) -> Sequence[str]:
        """The ids of the records of the fit in `table`, which must be them, in their order."""
        n = self.model.labels_.size
        if table.n_rows != n:
            raise InvalidData(
                f"{table.source} has {table.n_rows} rows, and the model was fitted to {n}: give "
                "the table of the fit. (Of two linked files: coterie fit --link … --report PAGE.)"
            )
        if self.id_column is None:
            return RowNumbers(n)
        ids = table.ids(self.id_column)
        other = next((row for row in range(n) if self.ids and ids[row] != self.ids[row]), None)
        if self.ids and other is not None:
            raise InvalidData(
                f"{table.place(other)} of {table.source} is {ids[other]!r}, and was "
                f"{self.ids[other]!r} in the fit: give the table of the fit, in its order."
            )
        return ids


def is_record_model(path: str | os.PathLike[str]) -> bool:
    """Whether a folder was made by `save_record_model`."""
    return (Path(path) / _FILE).is_file()


def save_record_model(saved: RecordModel, path: str | os.PathLike[str]) -> Path:
    """Write a model; a saved model that is there is replaced, and nothing else."""
    target = persistence.save(saved.model, path, overwrite=True)
    ids = None if saved.ids is None else list(saved.ids)
    content = {**_FORMAT, "id_column": saved.id_column, "ids": ids}
    with new_file(target / _FILE) as temporary:
        temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    return target


def load_record_model(path: str | os.PathLike[str]) -> RecordModel:
    """Read what `save_record_model` wrote; anything else is refused."""
    source = Path(path) / _FILE
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidModel(f"{path} is no model of records: no readable {_FILE}.") from error
    if not isinstance(content, dict) or any(content.get(k) != v for k, v in _FORMAT.items()):
        raise InvalidModel(f"{path}: {_FILE} is not as this Coterie writes it.")
    model = persistence.load(path)
    ids = content.get("ids")
    if not isinstance(model, Dossier) or (ids is not None and len(ids) != model.labels_.size):
        raise InvalidModel(f"{path}: {_FILE} and the model are not of the same records.")
    return RecordModel(model, content.get("id_column"), ids)
