"""`coterie fit --like DIR`: the numbers of an earlier model, and what moved since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.cli.command import Talk
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.stability import Difference, diff
from coterie.tables import Bundle, Inputs, StoredInputs
from coterie.words import counted

__all__ = ["changes_in_words", "changes_to_json", "kept_ids", "number_like"]

_SHOWN = 10  # rows that are listed for people; --json lists all


def kept_ids(inputs: Inputs | StoredInputs) -> list[str] | None:
    """The ids that a saved model keeps: those of rows in memory that have some."""
    named = isinstance(inputs, Inputs) and inputs.recipe.id_column is not None
    return [str(name) for name in inputs.ids] if named else None


def number_like(
    talk: Talk, estimator: Any, inputs: Inputs | StoredInputs, old: Bundle, folder: Path
) -> Difference:
    """Give the fitted clusters the numbers of the `old` model; what changed."""
    if not hasattr(estimator, "renumber_like"):
        raise InvalidParameter(
            f"{type(estimator).__name__} cannot reorder its clusters; leave --like out."
        )
    ids, old_ids = kept_ids(inputs), old.ids
    if ids is None or old_ids is None:
        n, n_old = len(inputs.ids), len(old.model.labels_)
        if n != n_old:
            raise InvalidData(
                f"{folder} was fitted to {n_old} rows, and there are {n}: rows must be known by "
                "their ids. Fit both with --id COLUMN, in memory."
            )
        talk.note(f"rows are matched with those of {folder} by their order; with --id, by ids")
        ids = old_ids = None
    estimator.renumber_like(old.model, ids=ids, old_ids=old_ids)
    return diff(old.model, estimator, ids=ids, old_ids=old_ids)


def changes_to_json(changes: Difference) -> dict[str, Any]:
    """Every row and every pair of clusters, as JSON has them."""
    tables = {"rows": changes.rows, "clusters": changes.clusters}
    listed = {
        name: [dict(zip(table, row, strict=True)) for row in zip(*_lists(table), strict=True)]
        for name, table in tables.items()
    }
    return {"n_same": changes.n_same, **listed}


def changes_in_words(values: dict[str, Any], name: str) -> list[str]:
    """Lines for people: how many stayed, what became of clusters, and the first rows that moved."""
    rows = values["rows"]
    count = {what: sum(row["what"] == what for row in rows) for what in ("moved", "new", "gone")}
    lines = [
        f"Numbered like {name}: {counted(values['n_same'], 'row')} stayed, "
        + ", ".join(f"{number} {what}" for what, number in count.items())
    ]
    for pair in values["clusters"]:
        if pair["what"] != "kept":
            ends = [str(pair[end]) for end in ("before", "after") if pair[end] >= 0]
            lines.append(
                f"  {pair['what']}: cluster {' → '.join(ends)} ({counted(pair['n_rows'], 'row')})"
            )
    moved = [row for row in rows if row["what"] == "moved"]
    for row in moved[:_SHOWN]:
        lines.append(f"  moved: {row['id']} from cluster {row['before']} to {row['after']}")
    if len(moved) > _SHOWN:
        lines.append(f"  … and {len(moved) - _SHOWN} more (all with --json)")
    return lines


def _lists(table: dict[str, Any]) -> list[list[Any]]:
    return [column.tolist() for column in table.values()]
