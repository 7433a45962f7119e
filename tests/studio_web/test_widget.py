"""The notebook widget without a browser: messages in, replies, buffers and events out."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from coterie import ActiveSession, Constraints, PCKMeans
from coterie.exceptions import InvalidData, MissingDependency
from coterie.studio import Studio, widget
from coterie.studio.widget import Channel, shown_studio

X, Y = make_blobs(40, 3, centers=3, random_state=0)
RECORDS = {"name": [f"name {i}" for i in range(40)], "note": ["<b>&</b>"] * 40}
IDS = [f"r{i}" for i in range(40)]


class Page:
    """The other end of a channel, as anywidget's comm would be."""

    def __init__(self, studio, **options):
        self.replies, self.events = {}, []
        self.channel = Channel(studio, self._take, **options)

    def _take(self, content, buffers):
        if "event" in content:
            self.events.append(content["event"])
        else:
            self.replies[content["reply"]] = (content, buffers)

    def ask(self, name, body=None):
        number = len(self.replies) + 1
        self.channel.receive({"call": number, "name": name, "body": body or {}})
        return self.replies[number]

    def value(self, name, body=None):
        content, _ = self.ask(name, body)
        assert "error" not in content, content
        return content["value"]

    def settle(self):
        """Wait until the rows are clustered and placed."""
        for _ in range(600):
            state = self.value("state")
            if state["fit"]["version"] and state["layouts"][0]["state"] == "ready":
                return state
            time.sleep(0.05)
        raise AssertionError(state)


@pytest.fixture
def page():
    session = ActiveSession(
        X, strategy="random", estimator=PCKMeans(3, random_state=0), random_state=0
    )
    studio = Studio().adopt(session, RECORDS, IDS)
    assert studio.desk.refits.wait(60)  # questions are planned
    yield Page(studio, person="Ann")
    studio.close()


def test_a_question_is_answered_and_undone(page):
    question = page.value("question", {"kind": "pair"})["question"]
    assert [field["value"] for field in question["records"][0]["fields"]] == [
        f"name {question['rows'][0]}",
        "<b>&</b>",
    ]
    body = {"key": "key-00001", "question": question["id"], "rows": question["rows"]}
    told = page.value("answer", {**body, "answer": "same", "next": "pair"})
    assert told["counts"]["same"] == 1
    assert told["next"]["id"] != question["id"]
    session = page.channel.studio.desk.session
    assert session.history[-1].annotator == "Ann"
    assert page.value("undo", {"key": "key-00002"})["counts"]["same"] == 0
    assert "answers" in page.events


def test_the_name_of_a_page_is_its_own(page):
    assert page.value("me", {"name": "Bob"}) == {"name": "Bob"}
    assert page.value("state")["me"] == {"name": "Bob"}


def test_numbers_come_as_buffers(page):
    page.settle()
    content, buffers = page.ask("points", {"layout": "pca"})
    points = np.frombuffer(buffers[0], dtype=content["dtype"]).reshape(-1, 2)
    assert (content["value"], content["dtype"], points.shape) == (None, "float32", (40, 2))
    assert np.abs(points).max() == pytest.approx(1)
    content, buffers = page.ask("map_labels")
    shown = np.frombuffer(buffers[0], dtype=content["dtype"])
    order = np.frombuffer(page.ask("order")[1][0], dtype=np.uint32)
    labels = page.channel.studio.desk.session.labels()
    numbers = np.array(page.value("map")["numbers"])
    np.testing.assert_array_equal(numbers[shown], labels[order])


def test_refusals_are_told_and_strange_messages_ignored(page):
    assert page.ask("nothing of ours")[0]["error"]["kind"] == "NotFound"
    assert page.ask("answer", {"rows": [0, 99]})[0]["error"]["message"]
    before = dict(page.replies)
    for strange in (None, [], "x", {"call": "7"}, {"name": "state"}):
        page.channel.receive(strange)
    assert page.replies == before


def test_after_the_end_nothing_is_heard(page):
    page.channel.close()
    heard = len(page.events)
    page.value("question")
    page.value("layout", {"name": "pca"})
    page.channel.studio.tell_people()
    assert len(page.events) == heard


def test_a_map_of_a_model_shows_its_labels_and_takes_no_answers():
    pairs = Constraints.from_arrays(40, [(0, 1), (2, 3)], [1, -1])
    model = PCKMeans(3, random_state=0).fit(X, constraints=pairs)
    studio = shown_studio(model, X, RECORDS, IDS, (), pairs)
    page = Page(studio, read_only=True)
    page.settle()
    content, buffers = page.ask("map_labels")
    shown = np.frombuffer(buffers[0], dtype=content["dtype"])
    np.testing.assert_array_equal(np.array(page.value("map")["numbers"])[shown], model.labels_)
    broken = {tuple(pair[:2]): pair[3] for pair in page.value("map_pairs")["pairs"]}
    same = model.labels_[0] == model.labels_[1], model.labels_[2] == model.labels_[3]
    assert broken == {(0, 1): int(not same[0]), (2, 3): int(same[1])}
    assert page.value("records", {"rows": [4]})["records"][0]["id"] == "r4"
    refused = page.ask("answer", {"key": "key-00001", "rows": [0, 1], "answer": "same"})[0]
    assert refused["error"]["kind"] == "ReadOnly"
    studio.close()


def test_a_map_needs_the_rows_of_the_fit():
    model = PCKMeans(3, random_state=0).fit(X)
    with pytest.raises(InvalidData, match="39 rows"):
        shown_studio(model, X[:39], None, None, (), None)


@pytest.fixture
def bundled(tmp_path, monkeypatch):
    """A bundle of two files, so that the widget can be made without Node."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "studio-1.js").write_text("export default { render() {} };")
    (tmp_path / "assets" / "style-1.css").write_text(".coterie {}")
    monkeypatch.setattr(widget, "_STATIC", tmp_path)
    widget._widget_class.cache_clear()
    yield tmp_path
    widget._widget_class.cache_clear()


def test_widgets_are_made_and_closed(bundled):
    pytest.importorskip("anywidget")
    session = ActiveSession(X, strategy="random", random_state=0)
    made = session.widget(RECORDS, annotator="Ann")
    assert (made.views, made.read_only) == (["answer", "map"], False)
    sent = []
    made.channel._send = lambda content, buffers: sent.append(content)
    made._handle_custom_msg({"call": 1, "name": "state", "body": {}}, [])
    assert [content["reply"] for content in sent if "reply" in content] == [1]
    assert sent[0]["value"]["me"] == {"name": "Ann"}
    made.close()
    shown = PCKMeans(3, random_state=0).fit(X).map(X)
    assert (shown.views, shown.read_only) == (["map"], True)
    shown.close()


def test_what_is_missing_is_said(bundled, monkeypatch):
    session = ActiveSession(X, strategy="random", random_state=0)
    pytest.importorskip("anywidget")
    for path in (bundled / "assets").iterdir():
        path.unlink()
    with pytest.raises(MissingDependency, match="make studio"):
        session.widget()
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with pytest.raises(MissingDependency, match=r"coterie\[widget\]"):
        session.widget()
