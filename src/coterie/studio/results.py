"""What came of it: the learning curve, when to stop, files to take away, the Python behind it."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coterie.active.answered import AnsweredClusters
from coterie.active.forecast import Forecast
from coterie.files import new_file
from coterie.persistence import save
from coterie.report import build_record_report, build_report
from coterie.studio.body import Body
from coterie.studio.desk import RECENT, Desk
from coterie.studio.errors import Refused
from coterie.studio.opening import Opening
from coterie.tables import (
    Bundle,
    Table,
    fit_model,
    how_made,
    pair_table,
    save_bundle,
    with_results,
    write_table,
)

__all__ = ["EXPORTS", "advice", "export", "result"]

_STEADY = 0.99  # stability from which a clustering is called as before
_STEADY_FITS = 3
_FORESEEN = 0.95
_FEW = 5  # answers of which a share says nothing
_NO_GAIN = 0.02  # that a forecast may promise for hardly anything to change


# -- when to stop ------------------------------------------------------------------------------
def advice(desk: Desk) -> dict[str, Any] | None:
    """Whether it is time to stop, in words; None while nothing can be said.

    Of records questions end by themselves: nearly all are alone, and so all clusterings alike.
    """
    points = desk.curve[-_STEADY_FITS:]
    if len(points) < 2 or points[-1].stability is None:
        return {"stop": False, "words": _expected(desk.forecast)} if desk.forecast else None
    last = points[-1]
    steady = len(points) == _STEADY_FITS and all(
        p.stability is not None and p.stability >= _STEADY for p in points
    )
    grown = last.answers - points[0].answers
    foreseen, counted = last.foreseen, last.n_foreseen
    words = f"The last two clusterings are {last.stability:.0%} alike"
    if foreseen is not None and counted >= _FEW:
        words += f", and the clusters had foreseen {foreseen:.0%} of the last {counted} answers"
    right = foreseen is not None and counted == RECENT and foreseen >= _FORESEEN
    better = desk.forecast is not None and desk.forecast.gain >= _NO_GAIN
    of_rows = desk.asking.compared is None
    stop = steady and grown >= _STEADY_FITS - 1 and right and not better and of_rows
    words += ". More answers will hardly change it." if stop else "."
    if desk.forecast:
        words += f" {_expected(desk.forecast)}"
    return {"stop": stop, "words": words}


def _expected(forecast: Forecast) -> str:
    """For people who know no index: 0 is chance and 100% is what they would say of every pair."""
    return (
        f"By estimate the clusters are {forecast.now:.0%} of the way from chance to all right; "
        f"after {forecast.answers} more answers {forecast.then:.0%}."
    )


def result(desk: Desk, opening: Opening, person: str) -> dict[str, Any]:
    """The learning curve and everything that can be taken away."""
    shown = desk.shown
    return {
        "curve": [point._asdict() for point in desk.curve],
        "stability": desk.curve[-1].stability if desk.curve else None,
        "n_clusters": None if shown is None else int(shown.numbers.size),
        "n_rows": desk.n,
        "counts": desk.counts(person),
        "advice": advice(desk),
        "python": opening.python(_shown_rows(desk)),
        "command": opening.command(desk.places),
        "exports": [
            {
                "kind": kind,
                "name": _file_name(desk, kind),
                "words": made.words,
                "available": not (why := made.why_not(desk)),
                "why": why,
            }
            for kind, made in EXPORTS.items()
        ],
    }


# -- files to take away ------------------------------------------------------------------------
def export(desk: Desk, opening: Opening, body: Body) -> dict[str, Any]:
    """A file in a folder of its own, which whoever sends it removes."""
    kind = body.choice("kind", EXPORTS)
    why = EXPORTS[kind].why_not(desk)
    if why:
        raise Refused("NotFound", why, 404)
    folder = Path(tempfile.mkdtemp(prefix="coterie-studio-"))
    path = folder / kind
    try:
        EXPORTS[kind].write(desk, opening, path)
    except BaseException:  # of a full disk: what is half written would keep it full
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return {"path": path, "name": _file_name(desk, kind), "type": EXPORTS[kind].type}


def _file_name(desk: Desk, kind: str) -> str:
    stem = "session" if desk.places.data is None else desk.places.data.stem
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in stem)
    return f"{safe[:60] or 'session'}.{kind}"


def _rows(desk: Desk, opening: Opening, path: Path) -> None:
    shown = desk.clusters()
    with desk.lock:
        names = desk.session.names
    called = np.array([names.get(n, "") for n in shown.numbers.tolist()], dtype=object)
    results = {"cluster": shown.labels, "cluster_name": called[shown.position]}
    typed = path.suffix == ".parquet" and desk.asking.recipe is not None
    numbers = desk.asking.recipe.number_columns if typed and desk.asking.recipe else ()
    write_table(with_results(desk.asking.table, results, numbers), path)


def _answers(desk: Desk, opening: Opening, path: Path) -> None:
    with desk.lock:
        told = [desk.answer(answer, state) for answer, state in desk.session.told]
    texts = {
        "a": [entry["ids"][0] for entry in told],
        "b": [entry["ids"][1] for entry in told],
        **{
            name: ["" if entry[name] is None else str(entry[name]) for entry in told]
            for name in ("answer", "certainty", "annotator", "time", "phase", "state")
        },
    }
    columns: dict[str, Any] = {"number": np.array([e["number"] for e in told], dtype=np.int64)}
    columns |= {name: np.array(values, dtype=object) for name, values in texts.items()}
    write_table(Table.of("answers", columns), path)


def _pairs(desk: Desk, opening: Opening, path: Path) -> None:
    with desk.lock:
        constraints = desk.session.constraints
    write_table(pair_table(constraints, desk.asking.ids), path, raw=True)


def _log(desk: Desk, opening: Opening, path: Path) -> None:
    with desk.lock:
        desk.check_open()
        desk.session.copy_log(path)


def _model(desk: Desk, opening: Opening, path: Path) -> None:
    """The folder that `coterie predict` and coterie.load read, packed."""
    with desk.lock:
        constraints, found = desk.session.constraints, desk.session.n_found
    model = fit_model(desk.asking, constraints, found)
    folder = path.parent / "model"
    if desk.asking.recipe is None:
        save(model, folder)
    else:
        made = how_made(model, data=str(desk.places.data), method=type(model).__name__.lower())
        save_bundle(Bundle(model, desk.asking.recipe, made), folder)
    with new_file(path) as temporary, zipfile.ZipFile(temporary, "w") as packed:
        for file in sorted(folder.rglob("*")):
            packed.write(file, file.relative_to(path.parent))


def _report(desk: Desk, opening: Opening, path: Path) -> None:
    make = _about_rows if desk.asking.compared is None else _about_records
    title = None if desk.places.data is None else f"Clusters of {desk.places.data.name}"
    with new_file(path) as temporary:
        temporary.write_text(make(desk, title), encoding="utf-8", newline="\n")


def _about_records(desk: Desk, title: str | None) -> str:
    """Of a model that is fitted with the answers: it knows how sure it is of every pair."""
    asking = desk.asking
    with desk.lock:
        constraints = desk.session.constraints
    model = fit_model(asking, constraints)
    records = {name: asking.table.column(name).texts() for name in asking.fields}
    ids = asking.ids if asking.by_id else None
    made = {"data": asking.table.source, "pairs": constraints.n_pairs}
    return build_record_report(model, records=records, ids=ids, made=made, title=title)


def _about_rows(desk: Desk, title: str | None) -> str:
    shown, asking = desk.clusters(), desk.asking
    with desk.lock:
        constraints, n_asked = desk.session.constraints, desk.session.n_asked
        names = desk.session.names
    labels = np.array([names.get(n, str(n)) for n in shown.numbers.tolist()], dtype=object)
    unique = len(set(labels.tolist())) == labels.size
    model = AnsweredClusters.of(
        desk.session.strategy, n_asked, labels[shown.position] if unique else shown.labels
    )
    records = {name: asking.table.column(name).texts() for name in asking.fields}
    recipe = asking.recipe
    return build_report(
        model,
        asking.X,
        constraints=constraints,
        feature_names=None if recipe is None else recipe.feature_names,
        kinds=None if recipe is None else recipe.feature_kinds,
        ids=asking.ids if asking.by_id else None,
        records=records,
        units=None if recipe is None else recipe.units,
        title=title,
    )


def _python(desk: Desk, opening: Opening, path: Path) -> None:
    path.write_text(opening.python(_shown_rows(desk)), encoding="utf-8")


def _shown_rows(desk: Desk) -> dict[int, str]:
    """The id of a row of every cluster that is shown, by the cluster's number."""
    shown = desk.shown
    if shown is None:
        return {}
    first = shown.order[shown.begin[:-1]].tolist()
    return {k: str(desk.asking.ids[r]) for k, r in zip(shown.numbers.tolist(), first, strict=True)}


class Export(NamedTuple):
    """A file to take away: what it is, how it is written, and why it may not be there."""

    words: str
    type: str
    write: Callable[[Desk, Opening, Path], None]
    why_not: Callable[[Desk], str]


def _needs_clusters(desk: Desk) -> str:
    return "" if desk.shown is not None else "The rows are not clustered yet."


def _needs_arrow(desk: Desk) -> str:
    if importlib.util.find_spec("pyarrow") is None:
        return "Parquet needs pyarrow: pip install 'coterie[parquet]'."
    return _needs_clusters(desk)


def _needs_log(desk: Desk) -> str:
    return "" if desk.places.log is not None else "This session has no log."


def _always(desk: Desk) -> str:
    return ""


_CSV = "text/csv; charset=utf-8"
_FILE = "application/octet-stream"
EXPORTS = {
    "rows.csv": Export("All rows with their cluster and its name", _CSV, _rows, _needs_clusters),
    "rows.parquet": Export("The same as Parquet", _FILE, _rows, _needs_arrow),
    "answers.csv": Export("Every answer: who, when, what became of it", _CSV, _answers, _always),
    "pairs.csv": Export("The answers as pairs, for the command coterie fit", _CSV, _pairs, _always),
    "log.db": Export("The log itself, to go on elsewhere", _FILE, _log, _needs_log),
    "model.zip": Export(
        'A model fitted with the answers: unpack it, then coterie.load("model") in Python, or '
        "coterie predict model FILE where rows were clustered, not records",
        "application/zip",
        _model,
        _always,
    ),
    "report.html": Export("One page about the clusters", "text/html", _report, _needs_clusters),
    "session.py": Export("The Python that does the same", "text/x-python", _python, _always),
}
