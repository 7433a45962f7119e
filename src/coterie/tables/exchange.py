"""Questions out, answers in: tables for spreadsheets, and tasks for Label Studio."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coterie.active import ActiveSession, Query
from coterie.active.query import ANSWERS
from coterie.exceptions import InvalidConstraints, InvalidData
from coterie.files import new_file
from coterie.tables.reading import read_table
from coterie.tables.records import Records
from coterie.tables.table import Table
from coterie.tables.writing import neutral, write_table

__all__ = ["LABEL_STUDIO", "FileAnswer", "read_answers", "tell_answers", "write_questions"]

#: The labelling interface that goes with the tasks of `write_questions`.
LABEL_STUDIO = """\
<View>
  <Header value="Do these two records belong together?"/>
  <View style="display: flex; gap: 2em">
    <Text name="left" value="$left"/>
    <Text name="right" value="$right"/>
  </View>
  <Choices name="answer" toName="left" choice="single" showInline="true" required="true">
    <Choice value="same" hotkey="y"/>
    <Choice value="different" hotkey="n"/>
    <Choice value="unknown" hotkey="u"/>
  </Choices>
</View>
"""
_NEEDED = ("a", "b", "answer")
_PERHAPS = ("certainty", "annotator")


class FileAnswer(NamedTuple):
    """An answer from a file: row numbers, the word, and what was said besides."""

    rows: tuple[int, int]
    answer: str
    certainty: float | None = None
    annotator: str | None = None


# -- questions out ----------------------------------------------------------------------------
def write_questions(
    questions: Sequence[Query], records: Records, path: str | os.PathLike[str]
) -> None:
    """Write questions with their records, for people who answer elsewhere; whole or not at all.

    Parameters
    ----------
    questions : sequence of Query
        As `ActiveSession.ask(batch=…)` gives them: they can be answered independently.
    records : Records
        Ids and fields of the rows.
    path : path-like
        ``.json``: tasks for Label Studio, whose interface is `LABEL_STUDIO`. Otherwise a table
        (.csv, .tsv, .parquet, …): ids in columns a and b, each field of both, and empty columns
        answer, certainty and annotator to be filled in.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        write_table(_question_table(questions, records), path)
        return
    tasks = [{"data": _task(records, *query.rows)} for query in questions]
    with new_file(path) as temporary:
        text = json.dumps(tasks, ensure_ascii=False, indent=1)
        temporary.write_text(text + "\n", encoding="utf-8")


def _question_table(questions: Sequence[Query], records: Records) -> Table:
    columns: dict[str, Any] = {
        name: [records.ids[query.rows[side]] for query in questions]
        for side, name in enumerate("ab")
    }
    for at, field in enumerate(records.fields):
        for side, name in enumerate("ab"):
            shown = [records.values[query.rows[side]][at] for query in questions]
            columns[f"{field} ({name})"] = shown
    for name in ("answer", *_PERHAPS):
        columns[name] = [""] * len(questions)
    made = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return Table.of("questions", made)


def _task(records: Records, i: int, j: int) -> dict[str, str]:
    return {
        "a": records.ids[i],
        "b": records.ids[j],
        "left": _record_text(records, i),
        "right": _record_text(records, j),
    }


def _record_text(records: Records, row: int) -> str:
    values = zip(records.fields, records.values[row], strict=True)
    return "\n".join(f"{field}: {value}".rstrip() for field, value in values)


# -- answers in -------------------------------------------------------------------------------
def read_answers(path: str | os.PathLike[str], ids: Sequence[str]) -> list[FileAnswer]:
    """The answers of a file; questions that nobody answered are left out.

    Parameters
    ----------
    path : path-like
        A table with columns a, b and answer, and perhaps certainty and annotator, or an export of
        Label Studio in JSON (or JSON-MIN). There the annotator is who completed the task, by
        e-mail or number, and skipped tasks are left out.
    ids : sequence of str
        The id of every row.

    Raises
    ------
    InvalidConstraints
        An answer that cannot be used; the message names its line or task.
    """
    path = Path(path)
    entries = _tasks(path) if path.suffix.lower() == ".json" else _lines(path)
    row_of = {neutral(name): row for row, name in enumerate(ids)}
    row_of |= {name: row for row, name in enumerate(ids)}
    return [_answer(where, entry, row_of) for where, entry in entries if entry["answer"]]


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, {a, b, answer, certainty, annotator}) of each row of a table."""
    table = read_table(path)
    for name in _NEEDED:
        if name not in table.columns:
            raise InvalidData(
                f"{path} has no column {name!r}; answers need {', '.join(_NEEDED)}, and it has "
                f"{', '.join(table.columns)}."
            )
    names = [name for name in (*_NEEDED, *_PERHAPS) if name in table.columns]
    columns = {name: table.columns[name].texts() for name in names}
    for row in range(table.n_rows):
        entry: dict[str, Any] = {name: (columns[name][row] or "").strip() for name in names}
        yield f"{path}, {table.place(row)}", entry


def _tasks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same of each annotation of each task."""
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
            raise ValueError("a list of tasks is expected")
    except (ValueError, OSError, RecursionError) as error:
        raise InvalidData(f"{path} is not an export of Label Studio in JSON: {error}.") from error
    for number, task in enumerate(tasks, 1):
        where = f"{path}, task {task.get('id', number)}"
        try:
            answered = [*_annotations(where, task)]
        except (
            AttributeError,
            TypeError,
        ) as error:  # a number in the place of a list, and the like
            raise InvalidConstraints(
                f"{where}: not as Label Studio writes it ({error})."
            ) from error
        for entry in answered:
            yield where, entry


def _annotations(where: str, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{a, b, answer, annotator} of each annotation of a task."""
    rows = {name: str(task.get("data", task).get(name, "")) for name in "ab"}
    if "annotations" not in task:  # JSON-MIN: one annotation, laid flat
        said = task.get("answer")
        yield rows | {"answer": str(said or ""), "annotator": _name(task.get("annotator"))}
        return
    for annotation in task["annotations"]:
        skipped = annotation.get("was_cancelled")
        word = "" if skipped else _choice(where, annotation.get("result", []))
        yield rows | {"answer": word, "annotator": _name(annotation.get("completed_by"))}


def _choice(where: str, result: list[Any]) -> str:
    chosen = [
        word
        for region in result
        if region.get("from_name") == "answer"
        for word in region.get("value", {}).get("choices", [])
    ]
    if len(chosen) > 1:
        raise InvalidConstraints(f"{where}: {len(chosen)} answers are chosen; one is expected.")
    return str(chosen[0]) if chosen else ""


def _name(person: Any) -> str:
    """Who completed a task: exports give a number, or a dictionary with an e-mail."""
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return "" if person is None else str(person)


def _answer(where: str, entry: dict[str, Any], row_of: dict[str, int]) -> FileAnswer:
    for name in "ab":
        if entry[name] not in row_of:
            raise InvalidConstraints(f"{where}: no row of the data has the id {entry[name]!r}.")
    i, j = (row_of[entry[name]] for name in "ab")
    if i == j:
        raise InvalidConstraints(f"{where}: {entry['a']!r} is compared with itself; remove it.")
    word = entry["answer"].lower()
    if word not in ANSWERS:
        raise InvalidConstraints(
            f"{where}: answer {entry['answer']!r} is not known; write {', '.join(ANSWERS)}, or "
            "leave it empty."
        )
    sure = _certainty(where, entry.get("certainty", ""))
    return FileAnswer((i, j), word, sure, entry.get("annotator") or None)


def _certainty(where: str, text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0.5 <= value <= 1:
        raise InvalidConstraints(f"{where}: certainty {text!r} must be a number from 0.5 to 1.")
    return value


def tell_answers(
    session: ActiveSession, answers: Sequence[FileAnswer], *, annotator: str | None = None
) -> int:
    """Tell a session the answers of a file; how many were new.

    What the same annotator has said of the same pair already is not told again, so that a file may
    be read twice, or again when more of it is filled in. Answers that contradict earlier ones are
    kept beside them.

    Parameters
    ----------
    session : ActiveSession
    answers : sequence of FileAnswer
    annotator : str, optional
        Of answers that do not say whose they are.
    """
    said = {(a.pair, a.answer, a.annotator) for a in session.history}
    n_new = 0
    for entry in answers:
        who = entry.annotator or annotator
        i, j = sorted(entry.rows)
        if ((i, j), entry.answer, who) in said:
            continue
        said.add(((i, j), entry.answer, who))
        session.tell(
            Query(entry.rows, "file", "Answered in a file."),
            entry.answer,
            certainty=entry.certainty,
            annotator=who,
            despite_clash=True,
        )
        n_new += 1
    return n_new
