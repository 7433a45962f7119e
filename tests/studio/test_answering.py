"""Questions and answers over HTTP: several people, two tabs, undo, clashes, retries."""

from __future__ import annotations

import resource
import signal
import tempfile
import time
from contextlib import contextmanager

import numpy as np
import pytest
from studio_browser import Browser, opened

from coterie.active import ActiveSession, LabelOracle, RecordQuestions, answer_all
from coterie.studio import Studio
from reference.records import people


def test_a_question_shows_two_records(ann):
    question = ann.question()
    assert question["kind"] == "pair"
    assert len(question["records"]) == 2
    record = question["records"][0]
    assert record["row"] == question["rows"][0]
    assert record["id"] == f"r{record['row']}"
    assert [(f["name"], f["kind"]) for f in record["fields"]] == [
        ("x", "number"), ("y", "number"), ("kind", "text")
    ]  # fmt: skip
    assert question["why"]
    assert ann.question()["id"] == question["id"]


def test_an_answer_brings_the_next_question(ann):
    first = ann.question()
    told = ann.answer(first, next="pair")
    assert told["numbers"] == [1]
    assert told["next"]["id"] != first["id"]
    assert told["counts"]["asked"] == told["counts"]["mine"] == 1
    assert told["can_undo"]
    assert ann.get("state")["counts"]["asked"] == 1


@pytest.mark.parametrize("word", ["same", "different", "unknown", "later"])
def test_every_word_is_counted(ann, word):
    counts = ann.answer(ann.question(), word)["counts"]
    assert counts[word] == 1
    assert counts["asked"] == (word != "later")


def test_people_have_questions_of_their_own(ann, bob):
    mine, theirs = ann.question(), bob.question()
    assert sorted(mine["rows"]) != sorted(theirs["rows"])
    ann.answer(mine)
    bob.answer(theirs)
    assert [a["annotator"] for a in ann.get("history")["answers"]] == ["Bob", "Ann"]


def test_undo_is_about_ones_own(ann, bob):
    ann.answer(ann.question())
    bob.answer(bob.question())
    told = ann.write("undo")
    assert told["what"].startswith("taken back")
    assert len(told["rows"]) == 2
    assert [a["annotator"] for a in bob.get("history", state="in force")["answers"]] == ["Bob"]
    assert "no answer of Ann" in ann.write("undo", 400)["error"]["message"]
    assert ann.write("redo")["counts"]["mine"] == 1
    assert ann.write("redo", 400)["error"]["kind"] == "InvalidParameter"


def test_a_retry_does_nothing_twice(ann):
    question = ann.question()
    first = ann.answer(question, "same", key="the-same-key")
    again = ann.answer(question, "same", key="the-same-key", next="pair")
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["numbers"] == again["numbers"] == [1]
    assert again["next"] is not None  # who heard nothing goes on as if they had
    ann.write("undo", key="undo-once-only")
    assert ann.write("undo", key="undo-once-only")["repeated"]
    assert ann.get("history")["total"] == 1


def test_the_second_tab_is_told(ann):
    question = ann.question()
    ann.answer(question, "same")
    error = ann.answer(question, "different", 409)["error"]
    assert error["kind"] == "StaleQuestion"
    assert error["answer"]["answer"] == "same"
    assert ann.get("history")["total"] == 1


def test_a_page_of_another_run_is_told_or_heard(ann, studio):
    """The server forgot its leases: what was not answered counts, what was is not doubled."""
    question = ann.question()
    ann.answer(question, "same")
    studio.desk.answered.clear()
    assert ann.answer(question, "same", 409)["error"]["kind"] == "StaleQuestion"
    other = ann.question()
    studio.desk.turns.give_back(other["id"])
    assert ann.answer(other, "different")["numbers"] == [2]


def test_a_page_about_another_session_is_told(ann):
    question = ann.question()
    assert ann.answer(question, session="another", status=409)["error"]["kind"] == "OtherSession"
    assert ann.answer(question, session=ann.get("state")["session"])["numbers"] == [1]


def test_a_clash_is_shown_and_decided(ann):
    for rows in ([0, 1], [1, 2]):
        ann.write("answer", question=None, rows=rows, answer="same")
    error = ann.write("answer", 409, question=None, rows=[0, 2], answer="different")["error"]
    assert error["kind"] == "ContradictoryAnswer"
    assert [a["number"] for a in error["clash"]] == [1, 2]
    assert "r0 and r1" in error["message"]
    told = ann.write("answer", question=None, rows=[0, 2], answer="different", despite_clash=True)
    assert told["numbers"] == [3]


def test_a_set_is_sorted_into_piles(ann):
    question = ann.question(kind="set", size=5)
    assert question["kind"] == "set"
    rows = question["rows"]
    assert len(rows) == 5
    told = ann.write(
        "answer", question=question["id"], rows=rows, piles=[rows[:2], rows[2:4]], next="set"
    )
    assert told["counts"]["asked"] == 1  # one step
    assert told["next"]["kind"] == "set"
    ann.write("undo")
    assert ann.get("history", state="in force")["total"] == 0


def test_what_does_not_fit_the_question_is_refused(ann):
    question = ann.question()
    i, j = question["rows"]
    other = next(row for row in range(36) if row not in (i, j))
    for body in (
        {"rows": [i, other]},
        {"rows": [i]},
        {"rows": [i, i]},
        {"rows": [i, 36]},
        {"rows": [i, j, other]},
        {"answer": "maybe"},
        {"certainty": 0.2},
        {"certainty": "high"},
        {"key": "short"},
        {"piles": [[other]]},
        {"despite_clash": "yes"},
    ):
        error = ann.answer(question, status=400, **body)["error"]
        assert error["kind"] in ("InvalidRequest", "InvalidParameter"), body
    assert ann.get("history")["total"] == 0


def test_a_lease_is_given_back(ann, bob):
    question = ann.question()
    bob.post("release", question=question["id"])  # not theirs to give
    assert ann.question()["id"] == question["id"]
    ann.post("release", question=question["id"])
    assert sorted(bob.question()["rows"]) == sorted(question["rows"])


@contextmanager
def full_disk(size):
    """Every write beyond so many bytes of a file fails, in the log and in all others."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, previous)


def test_a_full_disk_is_told_and_nothing_is_half_done(ann, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ann.write("guidelines", text="as they were")
    ann.answer(ann.question(), "different")
    ann.settle()
    question = ann.question()
    before = sorted(path.name for path in (*folder.iterdir(), *tmp_path.iterdir()))
    with full_disk(16):
        error = ann.answer(question, "same", 507, key="full-disk-key")["error"]
        assert error["kind"] == "AnswerNotSaved"
        assert "make room" in error["message"]
        assert ann.write("undo", 507)["error"]["kind"] == "AnswerNotSaved"
        assert "error" in ann.write("guidelines", 507, text="other ones, which are longer")
        assert "error" in ann.get("export/rows.csv", 507)
        sent = {"content-type": "application/octet-stream"}
        reply = ann.http.put("/api/files/more.csv", content=b"x,y\n" * 99, headers=sent)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (507, "FileProblem")
    after = sorted(path.name for path in (*folder.iterdir(), *tmp_path.iterdir()))
    assert after == before  # of no file a half is left
    assert ann.get("guidelines")["text"] == "as they were"
    assert ann.get("history")["total"] == 1
    assert ann.get("state")["can_undo"]
    told = ann.answer(question, "same", key="full-disk-key")  # there is room again
    assert (told["repeated"], told["numbers"]) == (False, [2])
    assert ann.get("history")["total"] == 2


def test_a_clock_that_jumps_changes_no_order():
    now = ["2026-05-01T10:00:00+00:00"]
    X = np.random.default_rng(0).normal(size=(20, 3))
    studio = Studio().adopt(ActiveSession(X, random_state=0, clock=lambda: now[0]))

    def call(name, **body):
        return studio.call("Ann", name, {"key": f"key-{next(Browser.keys):08d}", **body})

    for word, year in (("same", 2031), ("different", 1970), ("unknown", 2026)):
        now[0] = f"{year}-05-01T10:00:00+00:00"
        asked = call("question")["question"]
        call("answer", question=asked["id"], rows=asked["rows"], answer=word, despite_clash=True)
    told = call("history")["answers"]
    assert [entry["answer"] for entry in told] == ["unknown", "different", "same"]
    assert [entry["time"][:4] for entry in told] == ["2026", "1970", "2031"]
    assert call("undo")["what"] == "taken back: unknown"  # the last one, whatever its time says
    assert call("undo")["what"] == "taken back: different"
    assert call("redo")["what"] == "restored: different"
    studio.close()


def test_another_record_is_found(ann):
    found = ann.get("search", q="r1 green", limit=3)
    assert len(found["records"]) == 3
    assert found["more"]
    assert ann.get("search", q="r35")["records"][0]["row"] == 35
    assert ann.get("search", q="r35", **{"not": "35"})["records"] == []
    assert ann.get("search", q="")["records"] == []
    rows = [record["row"] for record in ann.get("records", rows="3,1")["records"]]
    assert rows == [3, 1]


def test_guidelines_stay(ann, bob, studio):
    assert ann.get("guidelines")["text"] == ""
    ann.write("guidelines", text="Same colour,\nsame pile.")
    assert bob.get("guidelines")["text"] == "Same colour,\nsame pile."
    assert (studio.folder / "rows.csv.answers.studio.json").exists()
    assert ann.write("guidelines", 400, text="x" * 20_001)["error"]["field"] == "text"


def test_a_budget_ends_the_questions(folder, gate):
    with opened(folder, gate, budget=1) as browser:
        told = browser.answer(browser.question(), next="pair")
        assert told["next"] is None
        assert "budget of 1" in told["done"]


def test_who_is_told_that_it_is_enough_can_go_on():
    """The page of a session of records said that enough is known, and there was no way on."""
    columns, truth = people(200)
    session = ActiveSession(
        np.arange(float(truth.size))[:, None],
        strategy=RecordQuestions(columns, recall=0.98),
        random_state=0,
    )
    answer_all(session, LabelOracle(truth))
    studio = Studio().adopt(session)

    def asked():
        while True:
            found = studio.call("Ann", "question", {})
            if found["question"] is not None or found["done"] is not None:
                return found
            time.sleep(0.01)

    ended = asked()
    assert ended["early"]
    assert "by estimate" in ended["done"]
    studio.call("Ann", "go_on", {})
    assert asked()["question"] is not None
    studio.close()
