"""Records on the command line: `coterie fit --records` and `coterie ask --records`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._options import CommaList, file_type, together
from coterie.cli.command import Talk
from coterie.cli.exits import Exit
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.records import Dossier
    from coterie.tables import RecordChoices, RecordInputs, RecordModel, Table

__all__ = [
    "exclusive_option",
    "fit_records",
    "predict_records",
    "record_choices",
    "record_options",
    "records_option",
    "report_records",
    "suggest_records",
]

_CHANGES = 12  # lines about what changed since an earlier model
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
        "--block",
        "blocks",
        type=CommaList(),
        default=(),
        metavar="COLUMN,...",
        help="With --records: compare all records that share a value in one of these columns too.",
    ),
    click.option(
        "--matches",
        metavar="OUT",
        type=click.Path(path_type=Path),
        help="With --records: file for the likely pairs and their probabilities.",
    ),
    click.option(
        "--threshold",
        metavar="P",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="With --records: probability from which two records are joined; higher is more "
        "careful.",
    ),
    click.option(
        "--report",
        "page",
        metavar="PAGE",
        type=click.Path(path_type=Path),
        help="With --records: .html page of what was found, pairs in doubt and why.",
    ),
)


def record_choices(
    fields: Sequence[str], exclusive: str | None, choices: dict[str, Any]
) -> RecordChoices:
    """The options about columns, as `read_records` takes them."""
    from coterie.exceptions import InvalidParameter
    from coterie.tables import RecordChoices

    unused = ("categorical", "text", "scale", "impute", "columns", "missing", "where", "vectors")
    for name in unused:
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
    blocks: Sequence[str],
    hard: bool,
    output: Path | None,
    only_labels: bool,
    matches: Path | None,
    threshold: float | None,
    page: Path | None,
    save: Path | None,
    like: Path | None,
    force: bool,
    raw: bool,
) -> Exit | None:
    """Find the records that are the same; write rows with clusters, and the likely pairs."""
    from coterie.cli._files import ask_or_refuse, check_target
    from coterie.cli._output import STDOUT, check_format, check_free, write_output
    from coterie.cli.watch import watched
    from coterie.exceptions import InfeasibleConstraints, InvalidParameter
    from coterie.records import Dossier
    from coterie.tables import (
        name_conflict,
        only_ids,
        read_records,
        save_record_model,
        with_results,
    )

    if matches is not None:
        check_format(matches)
    for target in filter(None, (matches, page)):
        check_target(target, ask_or_refuse(target, force))
    if len(data) > 1 or not data[0].is_file():
        raise InvalidParameter("--records reads one file, or two of them with --link.")
    inputs = read_records(data[0], pairs, choices, link=link, hard=hard)
    if output is not None:
        check_free(inputs.table.source, inputs.table.names)
    columns, kinds = inputs.columns, inputs.kinds
    if blocks:  # columns that are not compared may be blocked by
        kinds = kinds or dict.fromkeys(columns)
        columns = columns | {name: inputs.table.column(name, "--block").texts() for name in blocks}
    model = Dossier(
        kinds,
        threshold=threshold or "auto",
        exclusive=inputs.group_column,
        candidates=list(blocks) or None,
    )
    if inputs.group_column is not None and inputs.exclusive is not None:
        columns = columns | {inputs.group_column: inputs.exclusive}
    with watched(talk, "Dossier") as interruption:
        try:
            model.fit(columns, constraints=inputs.constraints)
        except InfeasibleConstraints as error:
            raise name_conflict(error, inputs.ids) from error
    saved = _with_ids(model, inputs, choices)
    changes = None if like is None else _number_like(talk, saved, like)
    if output is not None:
        kept = only_ids(inputs.table, choices.id_column, 0) if only_labels else inputs.table
        results = with_results(kept, {"cluster": model.labels_})
        write_output([results], output, raw=raw)
    if matches is not None:
        write_output([_likely_pairs(model, inputs)], matches, raw=raw)
    if page is not None:
        _write_page(model, inputs, page)
    if save is not None:
        save_record_model(saved, save)
    values = _summary(model, inputs, interruption.ended)
    values |= {"like": None if like is None else str(like), "changes": changes}
    values |= {
        "output": None if output is None else str(output),
        "matches": None if matches is None else str(matches),
        "report": None if page is None else str(page),
        "model": None if save is None else str(save),
    }
    talk.result(values, _in_words(values), err=output == STDOUT)
    return Exit.STOPPED_EARLY if interruption.ended else None


def _with_ids(model: Dossier, inputs: RecordInputs, choices: RecordChoices) -> RecordModel:
    from coterie.tables import RecordModel

    ids = None if choices.id_column is None else [str(name) for name in inputs.ids]
    return RecordModel(model, choices.id_column, ids)


def _number_like(talk: Talk, new: RecordModel, folder: Path) -> dict[str, Any]:
    """Give the clusters the numbers of an earlier model; what changed."""
    from coterie.cli._like import changes_to_json
    from coterie.exceptions import InvalidData
    from coterie.stability import diff
    from coterie.tables import load_record_model

    old = load_record_model(folder)
    ids, old_ids = new.ids, old.ids
    if ids is None or old_ids is None:
        n, n_old = new.model.labels_.size, old.model.labels_.size
        if n != n_old:
            raise InvalidData(
                f"{folder} was fitted to {n_old} records, and there are {n}: they must be known by "
                "their ids. Fit both with --id COLUMN."
            )
        talk.note(f"records are matched with those of {folder} by their order; with --id, by ids")
        ids = old_ids = None
    new.model.renumber_like(old.model, ids=ids, old_ids=old_ids)
    return changes_to_json(diff(old.model, new.model, ids=ids, old_ids=old_ids))


def predict_records(
    talk: Talk,
    folder: Path,
    new: Sequence[Path],
    *,
    output: Path | None,
    only_labels: bool,
    raw: bool,
) -> None:
    """Put new records beside those of a saved model; −1 where one is like none of them."""
    import numpy as np

    from coterie.cli._output import STDOUT, check_free, write_output
    from coterie.exceptions import InvalidParameter
    from coterie.tables import load_record_model, only_ids, read_table, with_results

    if len(new) > 1 or not new[0].is_file():
        raise InvalidParameter("a model of records reads one table, which must fit in memory.")
    saved, table = load_record_model(folder), read_table(new[0])
    check_free(table.source, table.names)
    group = saved.model.exclusive
    if isinstance(group, str) and group not in table.columns:
        talk.note(f"{table.source} has no column {group!r}: its records may join any cluster")
    labels = saved.predict(table)
    id_column = saved.id_column if saved.id_column in table.columns else None
    kept = only_ids(table, id_column, 0) if only_labels else table
    target = STDOUT if output is None and not talk.as_json else output
    if target is not None:
        write_output([with_results(kept, {"cluster": labels})], target, raw=raw)
    n_new = int((labels < 0).sum())
    values: dict[str, Any] = {
        "n_rows": table.n_rows,
        "n_like_none": n_new,
        "clusters": np.unique(labels[labels >= 0]).tolist(),
        "output": None if output is None else str(output),
    }
    if target is None:
        values["labels"] = labels.tolist()
    words = (
        f"{counted(table.n_rows, 'record')}: {table.n_rows - n_new} join known clusters, {n_new} "
        "like none of the known (cluster -1). They were not compared with each other; "
        "Dossier.extend in Python does that, and adds them"
    )
    talk.result(values, words, err=target == STDOUT)


def report_records(
    talk: Talk,
    folder: Path,
    data: Path,
    *,
    pairs: Path | None,
    truth: str | None,
    title: str | None,
) -> tuple[str, int]:
    """The page about a saved model of records and its table, and how many records there are."""
    from coterie.report import build_record_report
    from coterie.tables import load_record_model, read_table

    saved, table = load_record_model(folder), read_table(data)
    ids = saved.ids_of(table)
    if pairs is not None:
        talk.note(f"{pairs} was not read: a model of records keeps the answers of its fit")
    classes = None if truth is None else table.column(truth, "--truth").texts()
    columns = {field.name: table.column(field.name).texts() for field in saved.model.fields_}
    made = {"data": table.source, "pairs": saved.model.constraints_.n_pairs}
    page = build_record_report(
        saved.model, records=columns, ids=ids, truth=classes, made=made, title=title
    )
    return page, table.n_rows


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


def _write_page(model: Dossier, inputs: RecordInputs, target: Path) -> None:
    from coterie.report import write_report

    columns = {name: inputs.table.column(name).texts() for name in inputs.columns}
    made = {"data": inputs.table.source, "pairs": inputs.constraints.n_pairs}
    write_report(target, model, inputs.columns, records=columns, ids=inputs.ids, made=made)


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
        "threshold": model.threshold_,
        "candidate_recall": None if np.isnan(model.candidate_recall_) else model.candidate_recall_,
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
    if values["candidate_recall"] is not None:
        lines.append(
            f"{values['candidate_recall']:.1%} of the pairs answered “same” would have been "
            "compared without the answer"
        )
    if values["changes"] is not None:
        from coterie.cli._like import changes_in_words

        told = changes_in_words(values["changes"], values["like"])
        more = [f"  … and {len(told) - _CHANGES} more (all with --json)"]
        lines += told if len(told) <= _CHANGES else told[:_CHANGES] + more
    if values["stopped_early"]:
        lines.append("Stopped early: the best found so far was kept")
    for name, key in (("Rows", "output"), ("Matches", "matches"), ("Report", "report")):
        if values[key] not in (None, "-"):
            lines.append(f"{name} in {values[key]}")
    if values["model"] is not None:
        lines.append(f"Model in {values['model']}, for coterie predict and report")
    if not any(values[key] for key in ("output", "matches", "report", "model")):
        lines.append(
            "Nothing was written: -o is for the rows, --matches for the pairs, --report for a page"
        )
    return "\n".join(lines)
