"""Records on the command line: `coterie fit --records` and `coterie ask --records`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._command import Exit, Talk
from coterie.cli._options import CommaList, file_type, together
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.records import Dossier
    from coterie.tables import RecordChoices, RecordInputs, Table

__all__ = [
    "exclusive_option",
    "fit_records",
    "record_choices",
    "record_options",
    "records_option",
    "suggest_records",
]

_LIKELY = 0.05  # pairs from this probability on are in the file of matches

records_option = click.option(
    "--records",
    is_flag=True,
    help="Find records of the same person, place or product: many small clusters.",
)
exclusive_option = click.option(
    "--exclusive",
    metavar="COLUMN",
    help="With --records: column of groups that hold a thing at most once, as its source.",
)
record_options = together(
    records_option,
    click.option(
        "--fields",
        type=CommaList(),
        default=(),
        metavar="NAME:KIND,...",
        help="With --records: columns to compare and what they hold: text, date, number, category "
        "or set; name alone finds it.",
    ),
    click.option(
        "--link",
        metavar="FILE",
        type=file_type,
        help="Link the records of this file with those of DATA; two of one file are never the "
        "same. Implies --records.",
    ),
    click.option(
        "--matches",
        metavar="OUT",
        type=click.Path(path_type=Path),
        help="With --records: file for the likely pairs and their probabilities.",
    ),
)


def record_choices(
    fields: Sequence[str], exclusive: str | None, choices: dict[str, Any]
) -> RecordChoices:
    """The options about columns, as `read_records` takes them."""
    from coterie.exceptions import InvalidParameter
    from coterie.tables import RecordChoices

    for name in ("categorical", "text", "scale", "impute"):
        if choices.get(name):
            raise InvalidParameter(
                f"--{name} is not for --records; --fields says what columns hold."
            )
    kinds = {}
    for given in fields:
        name, _, kind = given.rpartition(":") if ":" in given else (given, "", "")
        kinds[name.strip()] = kind.strip()
    return RecordChoices(
        choices.get("id_column"),
        choices.get("features", ()),
        choices.get("drop", ()),
        kinds,
        exclusive,
    )


def fit_records(
    talk: Talk,
    data: Sequence[Path],
    pairs: Path | None,
    choices: RecordChoices,
    *,
    link: Path | None,
    hard: bool,
    output: Path | None,
    matches: Path | None,
    save: Path | None,
    force: bool,
    raw: bool,
) -> Exit | None:
    """Find the records that are the same; write rows with clusters, and the likely pairs."""
    from coterie.cli._files import ask_or_refuse, check_target
    from coterie.cli._output import STDOUT, check_format, check_free, write_output
    from coterie.cli._watch import watched
    from coterie.exceptions import InfeasibleConstraints, InvalidParameter
    from coterie.records import Dossier
    from coterie.tables import name_conflict, read_records, with_results

    if matches is not None:
        check_format(matches)
        check_target(matches, ask_or_refuse(matches, force))
    if len(data) > 1 or not data[0].is_file():
        raise InvalidParameter("--records reads one file, or two of them with --link.")
    inputs = read_records(data[0], pairs, choices, link=link, hard=hard)
    if output is not None:
        check_free(inputs.table.source, inputs.table.names)
    model = Dossier(inputs.kinds, exclusive=inputs.exclusive)
    with watched(talk, "Dossier") as interruption:
        try:
            model.fit(inputs.columns, constraints=inputs.constraints)
        except InfeasibleConstraints as error:
            raise name_conflict(error, inputs.ids) from error
    if output is not None:
        results = with_results(inputs.table, {"cluster": model.labels_})
        write_output([results], output, raw=raw)
    if matches is not None:
        write_output([_likely_pairs(model, inputs)], matches, raw=raw)
    if save is not None:
        from coterie.persistence import save as save_model

        save_model(model, save, overwrite=True)
    values = _summary(model, inputs, interruption.ended)
    values |= {
        "output": None if output is None else str(output),
        "matches": None if matches is None else str(matches),
        "model": None if save is None else str(save),
    }
    talk.result(values, _in_words(values), err=output == STDOUT)
    return Exit.STOPPED_EARLY if interruption.ended else None


def suggest_records(talk: Talk, table: Table, id_column: str | None) -> None:
    """Say that a table looks like records, if it does."""
    from coterie.tables import looks_like_records

    names = looks_like_records(table, id_column)
    if names:
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        talk.note(
            f"these rows look like records (nearly every {shown} differs); to find those of the "
            "same person, place or product use --records"
        )


def _likely_pairs(model: Dossier, inputs: RecordInputs) -> Table:
    """a, b, probability and together, the likeliest first."""
    import numpy as np

    from coterie.tables import Table

    chance = model.pair_proba(model.pairs_)
    i, j = model.pairs_.T
    joined = model.labels_[i] == model.labels_[j]
    kept = np.flatnonzero(joined | (chance >= _LIKELY))
    kept = kept[np.argsort(-chance[kept], kind="stable")]
    columns = {
        "a": np.array([inputs.ids[row] for row in i[kept].tolist()], dtype=object),
        "b": np.array([inputs.ids[row] for row in j[kept].tolist()], dtype=object),
        "probability": np.round(chance[kept], 4),
        "together": np.where(joined[kept], "yes", "no").astype(object),
    }
    return Table.of("matches", columns)


def _summary(model: Dossier, inputs: RecordInputs, stopped: bool) -> dict[str, Any]:
    import numpy as np

    sizes, counts = np.unique(np.bincount(model.labels_), return_counts=True)
    return {
        "method": "dossier",
        "n_rows": inputs.table.n_rows,
        "fields": {field.name: field.kind for field in model.fields_},
        "n_pairs": inputs.constraints.n_pairs,
        "n_broken": len(model.violations_),
        "n_clusters": model.n_clusters_,
        "sizes": dict(zip(map(str, sizes.tolist()), counts.tolist(), strict=True)),
        "precision": model.precision_,
        "recall": model.recall_,
        "stopped_early": stopped,
    }


def _in_words(values: dict[str, Any]) -> str:
    kinds = ", ".join(f"{name} ({kind})" for name, kind in values["fields"].items())
    sizes = ", ".join(f"{count} of {size}" for size, count in list(values["sizes"].items())[:8]) + (
        ", …" if len(values["sizes"]) > 8 else ""
    )
    lines = [
        f"{counted(values['n_clusters'], 'cluster')} of {counted(values['n_rows'], 'record')} "
        f"({sizes})",
        f"Compared by {kinds}",
        f"By estimate {values['precision']:.1%} of the joined pairs are right, and "
        f"{values['recall']:.1%} of the right ones joined",
    ]
    if values["n_pairs"]:
        lines.append(f"{values['n_broken']} of {counted(values['n_pairs'], 'answer')} broken")
    if values["stopped_early"]:
        lines.append("Stopped early: the best found so far was kept")
    for name, key in (("Rows", "output"), ("Matches", "matches")):
        if values[key] is not None:
            lines.append(f"{name} in {values[key]}")
    if values["model"] is not None:
        lines.append(f"Model in {values['model']}, for coterie.load in Python")
    if not any(values[key] for key in ("output", "matches", "model")):
        lines.append("Nothing was written: give -o for the rows, --matches for the pairs")
    return "\n".join(lines)
