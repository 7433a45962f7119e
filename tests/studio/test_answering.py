"""Questions and answers over HTTP: several people, two tabs, undo, clashes, retries."""

from __future__ import annotations

import pytest
from studio_browser import opened

from coterie.active import AnswerStore
from coterie.exceptions import AnswerNotSaved


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


def test_a_full_disk_is_told_and_nothing_is_half_done(ann, studio, monkeypatch):
    question = ann.question()

    def full(self, *events, key=None):
        raise AnswerNotSaved("not saved: no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(AnswerStore, "append", full)
        error = ann.answer(question, "same", 507, key="full-disk-key")["error"]
        assert error["kind"] == "AnswerNotSaved"
        assert ann.get("history")["total"] == 0
    assert not ann.answer(question, "same", key="full-disk-key")["repeated"]
    assert ann.get("history")["total"] == 1


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
