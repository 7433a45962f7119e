"""Tables opened from the page: uploads, what columns are, how they are used."""

from __future__ import annotations

import threading
import time
import unicodedata

import pytest
from studio_browser import PORT, Browser, opening, write_rows

from coterie.active import ActiveSession, AnswerStore
from coterie.studio import Studio
from coterie.studio.guard import Gate
from coterie.studio.opening import Opening
from coterie.studio.server import make_app

FILE = {"content-type": "application/octet-stream"}


@pytest.fixture
def empty(tmp_path, gate):
    studio = Studio(tmp_path)
    yield Browser(make_app(studio, gate), gate)
    studio.close()


def wait(browser):
    end = time.monotonic() + 60
    while (state := browser.get("state"))["phase"] not in ("ready", "failed"):
        assert time.monotonic() < end
        time.sleep(0.01)
    return state


def upload(browser, name, content):
    return browser.http.put(f"/api/files/{name}", content=content, headers=FILE)


def test_a_table_is_uploaded_looked_at_opened_and_closed(empty, tmp_path):
    content = write_rows(tmp_path / "x.tmp").read_bytes()
    reply = upload(empty, "my rows.csv", content)
    assert reply.json() == {"name": "my rows.csv", "bytes": len(content)}
    seen = empty.post("preview", file="my rows.csv", id="id", columns={"kind": "ignore"})
    assert seen["n_rows"] == 36
    assert {c["name"]: c["use"] for c in seen["columns"]} == {
        "id": "id", "x": "number", "y": "number", "kind": "ignore",
    }  # fmt: skip
    assert seen["features"] == 2
    assert seen["error"] is None
    assert {c["name"]: c["unique"] for c in seen["columns"]}["id"]
    assert len(seen["sample"]) == 5
    empty.write(
        "open", file="my rows.csv", id="id", columns={"kind": "ignore"}, scale=True, clusters=None
    )
    state = wait(empty)
    assert state["phase"] == "ready", state
    assert state["data"]["n_rows"] == 36
    question = empty.question()
    empty.write("answer", question=question["id"], rows=question["rows"], answer="same")
    session = state["session"]
    assert empty.post("close")["phase"] == "empty"
    empty.write("open", file="my rows.csv", id="id", columns={"kind": "ignore"}, scale=True)
    state = wait(empty)
    assert state["counts"]["same"] == 1  # it goes on where it was
    assert state["session"] != session
    assert "--scale" in empty.get("result")["command"]
    assert "scale=True" in empty.get("result")["python"]


def test_columns_are_used_as_chosen(empty, tmp_path):
    write_rows(tmp_path / "rows.csv")

    def use(**columns):
        seen = empty.post("preview", file="rows.csv", id="id", columns=columns, records=False)
        return {c["name"]: c["use"] for c in seen["columns"]}, seen

    found, seen = use()
    assert found["kind"] == "category"
    assert seen["features"] == 5
    found, seen = use(kind="text")
    assert found == {"id": "id", "x": "number", "y": "number", "kind": "text"}
    found, seen = use(kind="words", x="ignore")
    assert found == {"id": "id", "x": "ignore", "y": "number", "kind": "words"}
    found, seen = use(x="ignore", y="ignore", kind="ignore")
    assert "no column is left" in seen["error"]
    seen = empty.post("preview", file="rows.csv", id="kind")
    assert "used twice" in seen["error"]
    assert empty.post("preview", 400, file="rows.csv", columns={"x": "paint"})["error"]
    assert empty.post("preview", 404, file="none.csv")["error"]["kind"] == "NotFound"


def test_dates_and_several_texts(empty, tmp_path):
    words = ["red apple pie", "green apple tart", "blue cheese dip", "old cheese pie"]
    lines = ["id,born,dish,note"] + [
        f"{i},2020-0{1 + i % 9}-1{i % 7},{words[i % 4]},{words[(i // 2) % 4]} for {i % 5}"
        for i in range(40)
    ]
    (tmp_path / "menu.csv").write_text("\n".join(lines) + "\n")
    uses = {"dish": "text", "note": "words"}
    seen = empty.post("preview", file="menu.csv", id="id", columns=uses, records=False)
    found = {c["name"]: c["use"] for c in seen["columns"]}
    assert found == {"id": "id", "born": "date", "dish": "text", "note": "words"}
    assert all(c["use"] in [*c["choices"], "id"] for c in seen["columns"])
    empty.write("open", file="menu.csv", id="id", columns=uses, records=False)
    wait(empty)
    assert "--columns dish:text,note:words" in empty.get("result")["command"]


def test_records_are_recognised(empty, tmp_path):
    lines = ["id,name,mail"] + [f"{i},Name {i} Lee,mail{i}@x.org" for i in range(30)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    seen = empty.post("preview", file="people.csv", id="id")
    assert seen["looks_like_records"]
    assert seen["records"]
    empty.write("open", file="people.csv", id="id", records=True, columns={"mail": "ignore"})
    state = wait(empty)
    assert state["data"]["records"]
    assert state["data"]["fields"] == ["name"]


def test_an_id_is_found_and_dates_make_no_records(empty, tmp_path):
    lines = ["Order ID,since,weight"] + [
        f"c{i},2020-0{1 + i % 9}-{10 + i % 19},{i % 7}.5" for i in range(40)
    ]
    (tmp_path / "orders.csv").write_text("\n".join(lines) + "\n")
    seen = empty.post("preview", file="orders.csv")
    assert (seen["id"], seen["records"], seen["goes_on"]) == ("Order ID", False, False)
    found = {c["name"]: c["use"] for c in seen["columns"]}
    assert found == {"Order ID": "id", "since": "date", "weight": "number"}
    assert empty.post("preview", file="orders.csv", id=None)["id"] is None  # that was said


def test_common_names_and_phone_numbers_are_of_records(empty, tmp_path):
    lines = ["id,name,town,phone"] + [
        f"{i},Name {i % 110} Lee,{'ABC'[i % 3]},03{i % 180:08d}" for i in range(275)
    ]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    assert empty.post("preview", file="people.csv")["records"]
    lines = ["id,town,amount"] + [f"{i},town {i % 40},{i % 180}.50" for i in range(275)]
    (tmp_path / "sales.csv").write_text("\n".join(lines) + "\n")
    assert not empty.post("preview", file="sales.csv")["records"]


def test_fields_of_records_are_compared_as_what_they_hold(empty, tmp_path):
    lines = ["id,name,born,paid,mail"] + [
        f"{i},Name {i} Lee,19{40 + i}-03-1{i % 9},{i}.25,mail{i}@x.org" for i in range(30)
    ]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    seen = empty.post("preview", file="people.csv")
    assert seen["records"]
    found = {c["name"]: c["use"] for c in seen["columns"]}
    assert found == {"id": "id", "name": "text", "born": "date", "paid": "number", "mail": "text"}
    uses = {**found, "paid": "category", "mail": "ignore"}
    empty.write("open", file="people.csv", id="id", records=True, columns=uses)
    assert wait(empty)["data"]["fields"] == ["name", "born", "paid"]
    assert "--fields name:text,born:date,paid:category" in empty.get("result")["command"]
    strange = {"file": "people.csv", "id": "id", "columns": {"name": "words"}}
    assert "a field of records can be" in empty.post("preview", **strange)["error"]
    assert empty.write("open", 400, **strange, records=True)["error"]["field"] == "columns"


def test_a_table_is_opened_again_as_it_was(empty, tmp_path):
    folder = write_rows(tmp_path / "rows.csv").parent
    empty.write("open", file="rows.csv", id="id", columns={"kind": "ignore"}, clusters=3)
    wait(empty)
    seen = empty.post("preview", file="rows.csv")
    assert (seen["id"], seen["clusters"], seen["goes_on"]) == ("id", 3, True)
    assert {c["name"]: c["use"] for c in seen["columns"]}["kind"] == "ignore"
    again = Opening.recall(folder / "rows.csv")
    assert (again.n_clusters, again.choices["columns"]) == (3, {"kind": "drop"})
    assert again.read().X.shape == (36, 2)
    notes = folder / "rows.csv.answers.studio.json"
    notes.write_text(notes.read_text().replace('"id_column"', '"colour"'))
    seen = empty.post("preview", file="rows.csv")
    assert "'colour', which is not known" in seen["error"]
    notes.write_text("[]")
    assert Opening.recall(folder / "rows.csv") is None
    assert empty.post("preview", file="rows.csv")["error"] is None


def test_what_cannot_be_used_is_said_in_the_words_of_the_page(empty, tmp_path):
    lines = ["id,street,x"] + [f"{i},street {i % 60},{i}.5" for i in range(100)]
    (tmp_path / "many.csv").write_text("\n".join(lines) + "\n")
    seen = empty.post("preview", file="many.csv", id="id", records=False)
    assert seen["error"].startswith("Column 'street' holds 60 different texts. Choose below")


def test_uploads_stay_in_the_folder(empty, tmp_path):
    for name in (
        "../x.csv",
        "%2e%2e%2fx.csv",
        "x.exe",
        ".hidden.csv",
        "x",
        "a\\b.csv",
        "CON:.csv",
        "漢" * 90 + ".csv",
    ):
        reply = upload(empty, name, b"a\n1\n")
        assert reply.status_code in (400, 404, 405), name
    assert list(tmp_path.iterdir()) == []
    names = [upload(empty, "t.csv", b"a,b\n1,2\n").json()["name"] for _ in range(3)]
    assert names == ["t.csv", "t-2.csv", "t-3.csv"]
    spelled = "Kunden & Gäste, Nr. 7 (neu).csv"
    assert upload(empty, unicodedata.normalize("NFD", spelled), b"a,b\n1,2\n").json() == {
        "name": spelled, "bytes": 8,
    }  # fmt: skip
    assert spelled in [entry["name"] for entry in empty.get("files")["files"]]
    wrong = empty.http.put("/api/files/u.csv", content=b"x", headers={"content-type": "text/csv"})
    assert wrong.status_code == 415


def test_an_upload_that_is_too_large_leaves_nothing(empty, tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.studio.server.MOST_BYTES", 100)
    assert upload(empty, "t.csv", b"x" * 101).status_code == 413
    pieces = (b"x" * 60 for _ in range(2))
    assert upload(empty, "t.csv", pieces).status_code == 413
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_cannot_be_used_says_why(empty, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    assert "line 3" in empty.post("preview", 400, file="bad.csv")["error"]["message"]
    (tmp_path / "gap.csv").write_text("a,b\n1,2\n3,\n5,6\n")
    empty.write("open", file="gap.csv", id=None, columns={})
    state = wait(empty)
    assert state["phase"] == "failed"
    assert "gap.csv" in state["message"]
    error = empty.post("question", 409)["error"]
    assert error["kind"] == "NoSession"
    assert "gap.csv" in error["message"]
    write_rows(tmp_path / "rows.csv")
    empty.write("open", file="rows.csv", id="id", columns={"kind": "ignore"})
    assert wait(empty)["phase"] == "ready"  # and another one can be opened


def test_a_log_that_somebody_has_says_who(tmp_path, gate):
    path = write_rows(tmp_path / "rows.csv")
    studio = Studio(tmp_path)
    with AnswerStore(tmp_path / "rows.csv.answers.db"):
        studio.open(opening(path))
        state = studio.wait(60)
    assert state["phase"] == "failed"
    assert "in use by process" in state["message"]
    studio.close()


def test_known_pairs_come_along(empty, tmp_path):
    write_rows(tmp_path / "rows.csv")
    (tmp_path / "pairs.csv").write_text("a,b,kind\nr0,r1,must\nr0,r20,cannot\n")
    chosen = {"file": "rows.csv", "id": "id", "columns": {"kind": "ignore"}}
    empty.write("open", **chosen, constraints="pairs.csv")
    assert wait(empty)["counts"]["known"] == 2


def test_who_is_late_for_a_closed_table_is_told(folder, gate, studio, ann):
    from coterie.studio import Refused, answering, results
    from coterie.studio.body import Body

    question = ann.question()
    desk, opened = studio.desk, studio._opening
    studio.close()
    body = {"key": "key-00000009", "question": question["id"], "rows": question["rows"]}
    for late in (
        lambda: answering.answer(desk, "Ann", Body({**body, "answer": "same"})),
        lambda: answering.undo(desk, "Ann", Body(body)),
        lambda: results.export(desk, opened, Body({"kind": "log.db"})),
    ):
        with pytest.raises(Refused) as refused:
            late()
        assert refused.value.kind == "OtherSession"


def test_a_second_table_waits_for_the_first(folder, gate, monkeypatch):
    studio = Studio(folder)
    tried = threading.Event()
    monkeypatch.setattr(studio, "_read", lambda opening: tried.wait(60))
    browser = Browser(make_app(studio, gate), gate)
    browser.write("open", file="rows.csv", id="id")
    assert browser.write("open", 409, file="rows.csv", id="id")["error"]["kind"] == "Busy"
    tried.set()
    studio.wait(60)


def test_images_are_shown_from_the_folder(empty, tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"\x89PNG fake")
    (tmp_path / "note.txt").write_text("x")
    lines = ["id,x,photo", "1,1,pictures/a.png", "2,2,../a.png", "3,3,note.txt", "4,4,none.png"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    empty.write("open", file="t.csv", id="id", columns={"photo": "ignore"})
    assert wait(empty)["phase"] == "ready"
    record = empty.get("records", rows="0")["records"][0]
    field = next(f for f in record["fields"] if f["name"] == "photo")
    assert field["kind"] == "image"
    reply = empty.http.get(field["src"])
    assert reply.content == b"\x89PNG fake"
    assert reply.headers["content-type"] == "image/png"
    for row in (1, 2, 3):
        assert empty.http.get(f"/api/image?row={row}&field=photo").status_code == 404
    assert empty.http.get("/api/image?row=99&field=photo").status_code == 400


def test_a_session_of_python_is_adopted():
    import numpy as np

    X = np.random.default_rng(0).normal(size=(20, 3))
    session = ActiveSession(X, random_state=0)
    heard = []
    studio = Studio()
    studio.listen(lambda event, data: heard.append((event, data)), "Ann")
    studio.adopt(session, {"name": [f"n{i}" for i in range(20)]}, ids=[f"i{i}" for i in range(20)])
    question = studio.call("Ann", "question", {})["question"]
    assert question["records"][0]["fields"][0]["value"] == f"n{question['rows'][0]}"
    told = studio.call(
        "Ann",
        "answer",
        {"key": "key-0001", "question": question["id"], "rows": question["rows"], "answer": "same"},
    )
    assert told["numbers"] == [1]
    assert [a.annotator for a in session.history] == ["Ann"]
    assert studio.desk.refits.wait(60)
    points = studio.call("Ann", "points", {"layout": "pca"}) if _ready(studio) else None
    assert points is None or (points["dtype"], points["shape"]) == ("float32", [20, 2])
    assert {"answers", "fit", "state", "people"} <= {event for event, _ in heard}
    exports = {e["kind"]: e["available"] for e in studio.call("Ann", "result")["exports"]}
    assert not exports["log.db"]
    studio.close()
    plain = Studio().adopt(ActiveSession(X, random_state=0))  # without records: the features
    assert [f["name"] for f in plain.desk.record(0)["fields"]] == [
        "column 0",
        "column 1",
        "column 2",
    ]
    plain.close()


def test_a_listener_that_fails_takes_nothing_from_the_others(studio, ann, caplog):
    heard = []
    studio.listen(lambda event, data: 1 / 0, "Zoe")
    studio.listen(lambda event, data: heard.append(event), "Yan")
    ann.answer(ann.question())
    assert "answers" in heard
    assert "a listener of the studio failed" in caplog.text
    assert [p["name"] for p in ann.get("state")["people"]] == ["Yan", "Zoe"]


def _ready(studio):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if studio.call("", "map")["layouts"][0]["state"] == "ready":
            return True
        time.sleep(0.01)
    return False


def test_nothing_but_what_there_is_can_be_called():
    from coterie.studio import Refused

    studio = Studio()
    for name in ("", "no such call", "__class__", "close_desk"):
        with pytest.raises(Refused, match="nothing called"):
            studio.call("Ann", name, {})
    with pytest.raises(Refused, match="JSON object"):
        studio.call("Ann", "me", [1])
    with pytest.raises(Refused, match="no folder"):
        studio.call("Ann", "files", {})


def test_the_gate_forgets_old_visitors(monkeypatch):
    monkeypatch.setattr("coterie.studio.guard._MOST_VISITORS", 3)
    gate = Gate(PORT, "x")
    cookies = [gate.admit(gate.token) for _ in range(5)]
    known = [gate.visitor(f"a=b; {gate.cookie}={cookie}") is not None for cookie in cookies]
    assert known == [False, False, True, True, True]


def test_whatever_tells_how_things_stand_says_when_it_was_read(studio, ann):
    heard = []
    studio.listen(lambda event, data: heard.append((event, data["at"])), "Yan")
    before = ann.get("state")["at"]
    told = ann.answer(ann.question())
    after = ann.get("state")["at"]
    answers = [at for event, at in heard if event == "answers"]
    assert len(answers) == 1
    assert before < answers[0] < told["at"] < after
    assert len({at for _, at in heard}) == len(heard)


def test_a_field_of_records_can_be_left_out(ann):
    body = {"file": "rows.csv", "id": "id", "records": True}
    seen = ann.post("preview", **body, columns={"kind": "ignore"})
    uses = {column["name"]: column["use"] for column in seen["columns"]}
    assert uses == {"id": "id", "x": "number", "y": "number", "kind": "ignore"}
    assert set(uses.values()) <= {"id", *seen["columns"][-1]["choices"]}
    nothing = ann.post("preview", **body, columns=dict.fromkeys(["x", "y", "kind"], "ignore"))
    assert "at least one" in nothing["error"]
