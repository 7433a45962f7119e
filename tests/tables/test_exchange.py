"""Questions out and answers in: spreadsheets and Label Studio."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coterie.active import ActiveSession
from coterie.exceptions import InvalidConstraints, InvalidData
from coterie.tables import (
    LABEL_STUDIO,
    FileAnswer,
    Records,
    Table,
    read_answers,
    read_table,
    tell_answers,
    write_questions,
    write_table,
)

IDS = ["=ann", "bob", "cid", "dörte", "eve", "-f"]
NAMES = ["Ann, A.", "Bob", "=1+1", "Dörte\nD.", "E", "F"]
VALUES = [[name, town] for name, town in zip(NAMES, ["Ulm", "", "Rom", "x", "y", ""], strict=True)]
RECORDS = Records(["name", "town"], IDS, VALUES)


@pytest.fixture
def session():
    return ActiveSession(np.arange(6.0).reshape(-1, 1), random_state=0)


def filled(path, answers, **more):
    """The table of questions with its column of answers, and others, filled in."""
    table = read_table(path)
    columns = {name: np.array(found.texts(), object) for name, found in table.columns.items()}
    columns["answer"][: len(answers)] = answers
    for name, values in more.items():
        columns[name][: len(values)] = values
    write_table(Table.of("t", columns), path, raw=True)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_questions_go_out_and_come_back_as_answers(session, tmp_path, suffix):
    path = tmp_path / f"questions.{suffix}"
    questions = session.ask(batch=3)
    write_questions(questions, RECORDS, path)
    table = read_table(path)
    shown = ["name (a)", "name (b)", "town (a)", "town (b)"]
    assert list(table.columns) == ["a", "b", *shown, "answer", "certainty", "annotator"]
    assert read_answers(path, IDS) == []  # nobody has answered yet
    filled(path, ["same", None, "Different"], certainty=["0.9"], annotator=["ann", None, " bob "])
    assert read_answers(path, IDS) == [
        FileAnswer(questions[0].rows, "same", 0.9, "ann"),
        FileAnswer(questions[2].rows, "different", None, "bob"),
    ]


def test_no_cell_is_run_by_a_spreadsheet(tmp_path):
    from coterie.active import Query

    path = tmp_path / "q.csv"
    write_questions([Query((0, 2), "", ""), Query((5, 2), "", "")], RECORDS, path)
    text = path.read_text(encoding="utf-8")
    assert "'=1+1" in text
    assert "'=ann" in text
    filled(path, ["same", "different"])
    assert [a.rows for a in read_answers(path, IDS)] == [(0, 2), (5, 2)]


def test_answers_are_told_once_however_often_a_file_is_read(session, tmp_path):
    path = tmp_path / "q.csv"
    write_questions(session.ask(batch=3), RECORDS, path)
    filled(path, ["same"])
    assert tell_answers(session, read_answers(path, IDS), annotator="ann") == 1
    filled(path, ["same", "unknown", "different"])
    assert tell_answers(session, read_answers(path, IDS), annotator="ann") == 2
    assert tell_answers(session, read_answers(path, IDS), annotator="ann") == 0
    assert [a.answer for a in session.history] == ["same", "unknown", "different"]
    assert {(a.annotator, a.phase) for a in session.history} == {("ann", "file")}
    # Somebody else's answers to the same questions are answers of their own.
    assert tell_answers(session, read_answers(path, IDS), annotator="bob") == 3


def chosen(word):
    region = {"from_name": "answer", "to_name": "left", "type": "choices"}
    return [region | {"value": {"choices": [word]}}]


def label_studio(tasks):
    """The tasks as Label Studio exports them, answered by two people, the second one unsure."""
    for number, task in enumerate(tasks, 7):
        bob = {"id": 4, "email": "bob@example.org"}
        task["id"] = number
        task["annotations"] = [
            {"completed_by": 3, "was_cancelled": False, "result": chosen("same")},
            {"completed_by": bob, "was_cancelled": number == 8, "result": chosen("different")},
            {"completed_by": 5, "result": []},
        ]
    return tasks


def test_label_studio_there_and_back(session, tmp_path):
    path = tmp_path / "tasks.json"
    questions = session.ask(batch=2)
    write_questions(questions, RECORDS, path)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    i, j = questions[0].rows
    assert tasks[0]["data"]["a"] == IDS[i]
    assert tasks[0]["data"]["right"] == f"name: {VALUES[j][0]}\ntown: {VALUES[j][1]}".rstrip()
    path.write_text(json.dumps(label_studio(tasks)), encoding="utf-8")
    assert read_answers(path, IDS) == [
        FileAnswer(questions[0].rows, "same", None, "3"),
        FileAnswer(questions[0].rows, "different", None, "bob@example.org"),
        FileAnswer(questions[1].rows, "same", None, "3"),
    ]
    flat = [{"a": "bob", "b": "cid", "id": 1, "answer": "same", "annotator": 9}]
    path.write_text(json.dumps(flat), encoding="utf-8")
    assert read_answers(path, IDS) == [FileAnswer((1, 2), "same", None, "9")]


def test_the_interface_shows_what_the_tasks_hold():
    tree = ET.fromstring(LABEL_STUDIO)
    assert {text.get("value") for text in tree.iter("Text")} == {"$left", "$right"}
    assert [c.get("value") for c in tree.iter("Choice")] == ["same", "different", "unknown"]
    assert tree.find(".//Choices").get("name") == "answer"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bob,zoe,same,,", "line 3: no row of the data has the id 'zoe'"),
        ("bob,bob,same,,", "line 3: 'bob' is compared with itself"),
        ("bob,cid,perhaps,,", "line 3: answer 'perhaps' is not known; write same, different"),
        ("bob,cid,same,0.2,", "line 3: certainty '0.2' must be a number from 0.5 to 1"),
        ("bob,cid,same,high,", "line 3: certainty 'high'"),
    ],
)
def test_errors_name_the_line(tmp_path, line, message):
    path = tmp_path / "a.csv"
    path.write_text(f"a,b,answer,certainty,annotator\nbob,cid,same,,\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidConstraints, match=message):
        read_answers(path, IDS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "a,b\nbob,cid\n", "no column 'answer'"),
        ("a.json", "{", "not an export of Label Studio"),
        ("a.json", '{"a": 1}', "a list of tasks is expected"),
    ],
)
def test_files_of_other_kinds_are_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidData, match=message):
        read_answers(path, IDS)


def test_two_choices_at_once_are_refused(tmp_path):
    value = {"from_name": "answer", "value": {"choices": ["same", "different"]}}
    task = {"id": 5, "data": {"a": "bob", "b": "cid"}, "annotations": [{"result": [value]}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    with pytest.raises(InvalidConstraints, match="task 5: 2 answers"):
        read_answers(path, IDS)
