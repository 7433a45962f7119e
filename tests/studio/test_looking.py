"""Map, clusters, doubts, history and result over HTTP."""

from __future__ import annotations

import csv
import io
import runpy
import time
import zipfile

import numpy as np
import pytest
from studio_browser import KINDS, opened, opening

from coterie import load
from coterie.active.forecast import Forecast
from coterie.metrics import adjusted_rand_score
from coterie.studio import Studio
from coterie.studio.desk import CurvePoint
from coterie.studio.results import advice
from coterie.studio.shown import Shown


def taught(browser, answers=14):
    """A session that knows the three clusters."""
    question = browser.question()
    for _ in range(answers):
        question = browser.answer(question, next="pair")["next"]
        if question is None:
            break
    browser.settle()
    return browser


def binary(browser, path, dtype, **query):
    """What a map is drawn from; asked for again while a layout is being made, as pages do."""
    end = time.monotonic() + 60
    reply = browser.http.get(f"/api/map/{path}", params=query)
    while reply.status_code == 409 and "not ready" in reply.text and time.monotonic() < end:
        time.sleep(0.05)
        reply = browser.http.get(f"/api/map/{path}", params=query)
    assert reply.status_code == 200, reply.text
    return np.frombuffer(reply.content, dtype=dtype), reply.headers


# -- records -----------------------------------------------------------------------------------
def test_columns_that_are_not_shown_at_first_are_there_when_asked_for(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{j}" for j in range(15)]
    rows = [[f"r{i}", *(str((i * 7 + j) % 10) for j in range(15))] for i in range(30)]
    text = [",".join(row) for row in [["id", *names], *rows]]
    path.write_text("\n".join([*text, ""]))
    studio = Studio(tmp_path)
    try:
        studio.call("ann", "open", {"key": "key-00000001", "file": "wide.csv", "id": "id"})
        state = studio.wait(60)
        assert (len(state["data"]["fields"]), state["data"]["n_more_fields"]) == (12, 3)
        (short,) = studio.call("ann", "records", {"rows": [4]})["records"]
        (whole,) = studio.call("ann", "records", {"rows": [4], "whole": True})["records"]
        assert whole["fields"][:12] == short["fields"]
        assert [field["name"] for field in whole["fields"]] == names
        assert all(field["spread"] > 0 for field in whole["fields"])
    finally:
        studio.close()


def test_records_are_fetched_whole_by_an_address(ann):
    (record,) = ann.get("records", rows="3", whole="true")["records"]
    assert [field["name"] for field in record["fields"]] == ["x", "y", "kind"]
    assert ann.get("records", 400, rows="3", whole="perhaps")["error"]["field"] == "whole"


# -- map ---------------------------------------------------------------------------------------
def test_the_map_has_places_and_clusters_of_all_rows(ann, studio):
    taught(ann)
    assert ann.get("map")["n"] == 36
    points, headers = binary(ann, "points", "<f4", layout="pca")
    points = points.reshape(-1, 2)
    assert points.shape == (36, 2)
    assert headers["x-rows"] == "36"
    assert np.abs(points).max() == pytest.approx(1.0)
    part, _ = binary(ann, "points", "<f4", start=10, stop=20)
    assert np.array_equal(part.reshape(-1, 2), points[10:20])
    rows, _ = binary(ann, "order", "<u4")
    assert rows.tolist() == list(range(36))
    labels, headers = binary(ann, "labels", "<u2")
    numbers = ann.get("map")["numbers"]
    assert np.array_equal(np.array(numbers)[labels], studio.desk.session.labels())
    assert adjusted_rand_score(KINDS, labels) == 1.0
    # Rows of one kind are near each other on the map.
    spread = [np.ptp(points[kind == KINDS], axis=0).max() for kind in np.unique(KINDS)]
    assert max(spread) < 1.2


def test_many_points_come_in_a_fair_order(ann, studio, monkeypatch):
    from coterie.studio import layouts as module

    monkeypatch.setattr(module, "_AS_THEY_ARE", 10)
    made = module.Layouts(studio.desk)
    assert sorted(made.order.tolist()) == list(range(36))
    assert made.order.tolist() != list(range(36))
    made.make("pca")
    straight, _ = binary(ann, "points", "<f4", layout="pca")
    assert np.allclose(made.points("pca", 0, 36), straight.reshape(-1, 2)[made.order])


def test_layouts_are_made_when_asked_for(ann):
    assert ann.post("layout", name="tsne")["state"] in ("running", "ready")
    assert ann.post("layout", 400, name="spiral")["error"]["field"] == "name"
    reply = ann.http.get("/api/map/points", params={"layout": "umap"})
    assert reply.status_code in (200, 409)


def test_pairs_are_lines_and_broken_ones_come_first(ann):
    taught(ann)
    ann.write("answer", question=None, rows=[0, 35], answer="same", despite_clash=True)
    ann.settle()
    found = ann.get("map/pairs", limit=3)
    assert found["more"]
    assert len(found["pairs"]) == 3
    broken = [pair[3] for pair in found["pairs"]]
    assert broken == sorted(broken, reverse=True)
    for i, j, sign, _ in found["pairs"]:
        assert 0 <= i < j < 36
        assert sign in (1, -1)


# -- clusters ----------------------------------------------------------------------------------
def test_clusters_are_listed_searched_and_shown(ann):
    taught(ann)
    listed = ann.get("clusters")
    assert listed["total"] == 3
    assert [c["size"] for c in listed["clusters"]] == [12, 12, 12]
    number = listed["clusters"][0]["number"]
    page = ann.get(f"clusters/{number}")
    assert page["size"] == 12
    assert page["stands_out"][0]["words"]
    assert {r["cluster"] for r in page["typical"] + page["members"]} == {number}
    assert len(page["near"]) == 2
    rows = [[r["row"] for r in page["typical"]], [d["record"]["row"] for d in page["doubtful"]]]
    assert set(rows[0]).isdisjoint(rows[1])  # nobody is both
    assert len(rows[0]) + len(rows[1]) == 12
    part = ann.get(f"clusters/{number}/members", offset=10, limit=5)
    assert part["total"] == 12
    assert len(part["records"]) == 2
    found = ann.get("clusters", q=page["members"][0]["id"])
    assert [c["number"] for c in found["clusters"]] == [number]
    assert ann.get("clusters", q="no such thing")["total"] == 0
    assert ann.get("clusters", sort="number", offset=2)["clusters"][0]["number"] == max(
        c["number"] for c in listed["clusters"]
    )
    assert ann.get("clusters/99")["gone"] == 99  # as after a merge: nobody asked wrongly
    assert ann.get("clusters/99/members")["total"] == 0
    assert ann.get("clusters/x", 400)["error"]["kind"] == "InvalidRequest"


def number_of(browser, row):
    return browser.get("records", rows=str(row))["records"][0]["cluster"]


def test_a_name_stays_with_its_rows(ann, bob):
    taught(ann)
    number = number_of(ann, 0)
    ann.write("cluster", action="name", cluster=number, name=" Reds ")
    assert bob.get(f"clusters/{number}")["name"] == "Reds"
    assert bob.get("clusters", q="reds")["clusters"][0]["number"] == number
    assert bob.get("clusters", sort="name")["clusters"][0]["name"] == "Reds"
    ann.write("undo")
    assert bob.get(f"clusters/{number}")["name"] is None


def test_clusters_are_merged_split_moved_and_pinned(ann):
    taught(ann)
    steps = [
        lambda a, b: {"action": "merge", "a": a, "b": b},
        lambda a, b: {"action": "split", "cluster": a, "piles": [[0, 1], [2]]},
        lambda a, b: {"action": "split", "cluster": a, "piles": [[0, 1, 2]]},
        lambda a, b: {"action": "move", "rows": [0, 1], "cluster": b},
        lambda a, b: {"action": "pin", "row": 0, "cluster": b},
        lambda a, b: {"action": "reject", "cluster": a},
        lambda a, b: {"action": "together", "rows": [0, 12, 24]},
        lambda a, b: {"action": "keep_out", "rows": [0, 1], "cluster": b},
    ]
    before = ann.get("history", state="in force")["total"]
    for make in steps:
        step = make(number_of(ann, 0), number_of(ann, 35))
        told = ann.write("cluster", **step, despite_clash=True)
        assert told["numbers"], step
        assert ann.get("history", state="in force")["total"] == before + len(told["numbers"])
        ann.write("undo")  # one step each
        assert ann.get("history", state="in force")["total"] == before
        ann.settle()  # what was merged may be shown by now, with fewer clusters


def test_what_cannot_be_said_of_clusters_is_refused(ann):
    assert ann.write("cluster", 400, action="paint")["error"]["field"] == "action"
    taught(ann)
    number = number_of(ann, 0)
    for body, status in (
        ({"action": "name", "cluster": 99, "name": "x"}, 409),
        ({"action": "name", "cluster": number}, 400),
        ({"action": "merge", "a": number, "b": number}, 400),
        ({"action": "together", "rows": [3]}, 400),
        ({"action": "move", "rows": [99], "cluster": number}, 400),
        ({"action": "split", "cluster": number, "piles": [[35]]}, 400),
        ({"action": "pin", "row": 0}, 400),
    ):
        assert ann.write("cluster", status, **body)["error"]["message"], body


# -- doubts, history ---------------------------------------------------------------------------
def test_doubts_are_shown_retracted_and_kept(ann):
    assert ann.get("doubts")["n_answers"] == 0
    ann.answer(ann.question(), "unknown")
    assert ann.get("doubts")["n_answers"] == 0  # it says nothing that could be wrong
    taught(ann)
    ann.write("answer", question=None, rows=[0, 1], answer="same")
    ann.write("answer", question=None, rows=[1, 2], answer="same")
    told = ann.write("answer", question=None, rows=[0, 2], answer="different", despite_clash=True)
    ann.settle()
    doubts = ann.get("doubts")
    assert told["numbers"][0] in [s["answer"]["number"] for s in doubts["suspects"]]
    assert doubts["n_broken"] == len(doubts["broken"]) >= 1
    (contradiction,) = [c for c in doubts["contradictions"] if told["numbers"][0] in
                        [a["number"] for a in c["answers"]]]  # fmt: skip
    numbers = [a["number"] for a in contradiction["answers"]]
    ann.write("keep", numbers=numbers)
    assert numbers not in [
        [a["number"] for a in c["answers"]] for c in ann.get("doubts")["contradictions"]
    ]
    ann.write("retract", number=told["numbers"][0])
    ann.settle()
    assert ann.get("doubts")["n_contradictions"] == 0
    said = [a for a in ann.get("history", state="in force")["answers"] if a["answer"] != "unknown"]
    assert ann.get("doubts")["n_answers"] == len(said) > 10
    assert ann.write("keep", 400, numbers=[])["error"]["field"] == "numbers"
    assert ann.write("retract", 400, number=10_000)["error"]["kind"] == "InvalidParameter"


def test_a_page_and_the_report_say_what_stands_out_in_the_same_words(folder, gate):
    head, *lines = (folder / "rows.csv").read_text().split()
    towns = [f"{line},{'Ulm' if at < 12 else 'Rom'}" for at, line in enumerate(lines)]
    (folder / "rows.csv").write_text("\n".join([f"{head},town", *towns]))
    with opened(folder, gate) as browser:
        taught(browser)
        report = browser.http.get("/api/export/report.html").text
        told = [
            fact["words"]
            for cluster in browser.get("clusters")["clusters"]
            for fact in browser.get(f"clusters/{cluster['number']}")["stands_out"][:1]
        ]
    assert any(words.startswith("town: ") for words in told), told
    for words in told:
        assert f"stands out by {words}" in report


def test_history_is_filtered_and_edited(ann, bob):
    ann.answer(ann.question(), "same")
    bob.answer(bob.question(), "unknown")
    assert ann.get("history", annotator="Bob")["total"] == 1
    assert ann.get("history", answer="same")["total"] == 1
    mine = ann.get("history", annotator="Ann")["answers"][0]
    assert ann.get("history", q=mine["ids"][0])["total"] >= 1
    assert mine["lines"] == [KINDS[row] for row in mine["rows"]]  # measurements are no words
    told = bob.write("edit", number=mine["number"], answer="different")
    assert told["numbers"] == [3]
    assert ann.get("history", state="retracted")["answers"][0]["number"] == mine["number"]
    assert ann.get("history", state="in force", annotator="Ann")["total"] == 0
    assert ann.get("history", limit=1, offset=1)["answers"][0]["number"] == 2
    assert bob.write("edit", 400, number=mine["number"], answer="same")["error"]["message"]


def test_annotators_have_rates(ann, bob):
    taught(ann)
    bob.answer(bob.question(), "unknown")
    table = {row["name"]: row for row in ann.get("annotators")["annotators"]}
    assert table["Ann"]["n_same"] + table["Ann"]["n_different"] > 5
    low, high = table["Ann"]["wrong_same"][1:]
    assert 0 <= low <= table["Ann"]["wrong_same"][0] <= high <= 1
    assert table["(clustering)"]["program"]


# -- result ------------------------------------------------------------------------------------
def test_the_result_has_a_curve_and_advice(ann):
    taught(ann)
    result = ann.get("result")
    answers = [point["answers"] for point in result["curve"]]
    assert answers == sorted(answers)
    assert result["curve"][-1]["clusters"] == 3
    assert result["advice"]["words"]
    assert result["command"] == "coterie studio rows.csv --id id --drop kind"


def test_every_export_can_be_read(ann, folder):
    taught(ann)
    ann.write("cluster", action="name", cluster=number_of(ann, 0), name="Reds")
    found = {}
    for entry in ann.get("result")["exports"]:
        reply = ann.http.get(f"/api/export/{entry['kind']}")
        assert reply.status_code == 200, (entry, reply.text)
        assert f'filename="{entry["name"]}"' in reply.headers["content-disposition"]
        found[entry["kind"]] = reply.content
    rows = list(csv.DictReader(io.StringIO(found["rows.csv"].decode())))
    assert len(rows) == 36
    assert {r["cluster_name"] for r in rows if r["kind"] == "red"} == {"Reds"}
    answers = list(csv.DictReader(io.StringIO(found["answers.csv"].decode())))
    assert len(answers) == ann.get("history")["total"]
    assert b"Reds" in found["report.html"]
    with zipfile.ZipFile(io.BytesIO(found["model.zip"])) as packed:
        packed.extractall(folder / "unpacked")
    assert adjusted_rand_score(KINDS, load(folder / "unpacked/model").labels_) == 1.0
    assert ann.get("export/everything", 400)["error"]["kind"] == "InvalidRequest"


@pytest.fixture
def printed_by_export(ann, folder, monkeypatch, capsys):
    """The clusters that the exported Python prints, in a folder of its own, from the exported log:
    the studio still holds its own.
    """

    def run():
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "rows.csv").write_bytes((folder / "rows.csv").read_bytes())
        for kind, name in (("log.db", "rows.csv.answers.db"), ("session.py", "session.py")):
            (elsewhere / name).write_bytes(ann.http.get(f"/api/export/{kind}").content)
        monkeypatch.chdir(elsewhere)
        runpy.run_path("session.py")
        return [line.split("\t")[1] for line in capsys.readouterr().out.splitlines()]

    return run


def test_the_python_gives_the_same_clusters(ann, studio, printed_by_export):
    taught(ann)
    ann.write("cluster", action="name", cluster=number_of(ann, 0), name="Reds")
    labels = printed_by_export()
    assert labels[0] == "Reds"
    shown = studio.desk.session.labels().tolist()
    names = {shown[row]: label for row, label in enumerate(labels)}
    assert [names[k] for k in shown] == labels  # the same clusters
    assert all(name in ("Reds", str(k)) for k, name in names.items())  # by the same numbers


def test_the_numbers_of_the_page_are_those_of_its_python(ann, studio, printed_by_export):
    """They depended on the clusterings before, which a session that is opened anew has not had."""
    ann.settle()
    desk = studio.desk
    first = desk.shown
    desk.shown = Shown.of(100 - first.labels, first.version)  # as if others had come before
    assert printed_by_export() == [str(k) for k in desk.shown.labels.tolist()]


def test_the_advice_is_to_stop_when_nothing_changes(studio):
    desk = studio.desk
    desk.curve = steady = [CurvePoint(n, 3, 1.0, 0, 1.0, min(n, 20)) for n in (10, 20, 30)]
    desk.forecast = None
    assert advice(desk)["stop"]
    assert "foreseen 100% of the last 20 answers" in advice(desk)["words"]
    desk.forecast = Forecast(0.8, 0.86, 20)
    assert not advice(desk)["stop"]
    desk.forecast = Forecast(0.98, 0.99, 20)
    assert advice(desk)["stop"]
    desk.curve = [steady[0], CurvePoint(20, 3, 0.8, 0, 1.0, 20), steady[2]]
    assert not advice(desk)["stop"]
    desk.curve = [CurvePoint(n, 3, 1.0, 0, 1.0, n) for n in (2, 3, 4)]  # four say next to nothing
    assert not advice(desk)["stop"]
    assert "foreseen" not in advice(desk)["words"]
    desk.curve, desk.forecast = steady[:1], None
    assert advice(desk) is None


# -- refits ------------------------------------------------------------------------------------
def test_a_clustering_is_asked_for_and_stopped(ann):
    version = ann.settle()
    ann.post("refit")
    assert ann.settle(version) > version
    assert ann.post("stop")["stopping"] in (True, False)


def test_k_is_kept_where_it_is_known(folder, gate):
    with opened(folder, gate, n_clusters=3) as browser:
        assert browser.get("state")["data"]["clusters"] == 3
        browser.settle()
        assert browser.get("map")["n_clusters"] == 3


# -- records -----------------------------------------------------------------------------------
def test_records_have_pages_and_a_map(folder, gate):
    names = ["Ann Lee", "Ann Leee", "Bob Ray", "Bob Rey", "Cid Orr", "Dora Quist"]
    towns = ["Ulm", "Ulm", "Bern", "Bern", "Basel", "Wien"]
    text = "\n".join(f"{i},{n},{t}" for i, (n, t) in enumerate(zip(names, towns, strict=True)))
    (folder / "rows.csv").write_text(f"id,name,town\n{text}\n")
    with opened(folder, gate, records=True, choices={"id_column": "id"}) as browser:
        browser.settle()
        assert browser.get("state")["data"]["records"]
        assert browser.get("clusters", q="quist")["total"] == 1
        number = number_of(browser, 5)
        page = browser.get(f"clusters/{number}")
        assert page["size"] == 1  # singletons have a page too
        assert "Dora Quist" in page["stands_out"][0]["words"]
        points, _ = binary(browser, "points", "<f4")
        assert points.size == 12
        question = browser.question()
        if question is not None:
            browser.write("answer", question=question["id"], rows=question["rows"], answer="same")
        exports = {e["kind"]: e["available"] for e in browser.get("result")["exports"]}
        assert exports["report.html"]
        page = browser.http.get("/api/export/report.html").text
        assert "Clusters of rows.csv" in page
        assert "Dora Quist" in page or "Ann Leee" in page
        assert browser.http.get("/api/export/model.zip").status_code == 200


def test_of_records_only_the_questions_end(folder):
    """Nearly all records are alone, so that all clusterings are alike from the first answer on."""
    (folder / "rows.csv").write_text("id,name\n" + "".join(f"{i},Ann {i}\n" for i in range(20)))
    studio = Studio(folder)
    try:
        studio.open(opening(folder / "rows.csv", records=True, choices={"id_column": "id"}))
        assert studio.wait(60)["phase"] == "ready"
        studio.desk.curve = [CurvePoint(n, 3, 1.0, 0, 1.0, 20) for n in (30, 40, 50)]
        assert not advice(studio.desk)["stop"]
        assert "100% alike" in advice(studio.desk)["words"]
    finally:
        studio.close()


def test_the_forecast_of_the_session_is_told(studio, ann, monkeypatch):
    kind = type(studio.desk.session)
    monkeypatch.setattr(kind, "expected_gain", Forecast(0.8, 0.86, 20), raising=False)
    words = "80% of the way from chance to all right; after 20 more answers 86%."
    taught(ann, 4)
    assert ann.get("state")["advice"]["words"].endswith(words)
