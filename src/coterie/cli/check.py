"""`coterie check`: say what the pairs imply, and whether they can be kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._options import clusters_option, file_type, id_option, table_argument
from coterie.cli.command import Talk, command, explain
from coterie.cli.exits import Exit
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.constraints import Constraints

__all__ = ["check"]

_SHOWN = 5  # contradictions and redundant pairs told in words
_LISTED = 1000  # ... and in JSON


@command("check")
@table_argument
@click.argument("pairs", type=file_type)
@id_option
@clusters_option
@click.option("--hard-only", is_flag=True, help="Look only at pairs that must not be broken.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="For deciding whether K clusters are enough.",
)
def check(
    talk: Talk,
    *,
    data: Path,
    pairs: Path,
    id_column: str | None,
    clusters: int | None,
    hard_only: bool,
    time_limit: float,
) -> Exit | None:
    """Say what the pairs imply, and whether they can be kept.

    DATA is the table, PAIRS the file with columns a, b and kind.
    """
    from coterie.cli.watch import announce
    from coterie.exceptions import InfeasibleConstraints, UndecidedFeasibility
    from coterie.tables import name_conflict, name_pairs, read_pairs, read_table

    announce(talk)
    ids = read_table(data).ids(id_column)
    known = read_pairs(pairs, ids, by_id=id_column is not None)
    values = _look(known, ids, hard_only)
    code = Exit.UNSATISFIABLE if values["n_contradictions"] else Exit.DONE
    verdict = "They contradict each other." if code else "They do not contradict each other."
    if clusters is not None and not code:
        try:
            known.check_feasible(clusters, hard_only, time_limit)
            verdict = f"All can be kept with {counted(clusters, 'cluster')}."
        except InfeasibleConstraints as error:
            verdict, code = explain(name_conflict(error, ids, clusters))
            values["clash"] = [] if error.conflict is None else name_pairs(error.conflict, ids)
        except UndecidedFeasibility as error:
            verdict, code = str(error), Exit.UNDECIDED
    values |= {
        "n_clusters": clusters,
        "satisfiable": {Exit.DONE: True, Exit.UNSATISFIABLE: False}.get(code),
        "verdict": verdict,
    }
    talk.result(values, _in_words(values))
    return code


def _look(known: Constraints, ids: Sequence[str], hard_only: bool) -> dict[str, Any]:
    """Counts, components, contradictions and redundant pairs."""
    import numpy as np

    from coterie.tables import name_pairs

    closure = known.closure(hard_only=hard_only)
    conflicts = known.conflicts(hard_only=hard_only)
    redundant = known.redundant(hard_only=hard_only)
    groups = closure.sizes[closure.sizes > 1]
    return {
        "n_rows": known.n_samples,
        "n_pairs": known.n_pairs,
        "n_must": len(known.must_link),
        "n_cannot": len(known.cannot_link),
        "n_hard": int(known.is_hard.sum()),
        "n_rows_in_pairs": int(np.unique(known.pairs).size),
        "n_groups": int(groups.size),
        "largest_group": int(groups.max(initial=0)),
        "n_contradictions": len(conflicts),
        "contradictions": [name_pairs(conflict, ids) for conflict in conflicts[:_LISTED]],
        "n_redundant": int(redundant.size),
        "redundant": name_pairs(known, ids, redundant[:_LISTED]),
    }


def _in_words(values: dict[str, Any]) -> str:
    from coterie.tables.pairs import in_words

    redundant = in_words(values["redundant"], _SHOWN)
    lines = [
        f"{counted(values['n_pairs'], 'pair')} about {values['n_rows_in_pairs']} of "
        f"{values['n_rows']} rows: "
        f"{values['n_must']} must, {values['n_cannot']} cannot, {values['n_hard']} of them hard",
        f"{counted(values['n_groups'], 'group')} joined by must-links, the largest of "
        f"{values['largest_group']} rows",
        counted(values["n_redundant"], "pair says", "pairs say")
        + " what the others imply"
        + (f": {redundant}" if redundant else ""),
        counted(values["n_contradictions"], "contradiction"),
    ]
    lines += [f"  {in_words(conflict)}" for conflict in values["contradictions"][:_SHOWN]]
    if values["n_contradictions"] > _SHOWN:
        lines.append(f"  … and {values['n_contradictions'] - _SHOWN} more")
    return "\n".join([*lines, values["verdict"]])
