"""A small table, and a browser without a screen."""

from __future__ import annotations

import itertools
import time
from contextlib import contextmanager

import numpy as np
from starlette.testclient import TestClient

from coterie.studio import Studio
from coterie.studio.opening import Opening
from coterie.studio.server import make_app

PORT = 8123
BASE = f"http://127.0.0.1:{PORT}"
KINDS = np.repeat(["red", "green", "blue"], 12)


def write_rows(path):
    """36 rows in three clusters; the column `kind` is the truth and is not clustered by."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(36, 2)) + 8 * np.eye(3, 2)[np.repeat(range(3), 12)]
    lines = ["id,x,y,kind"]
    lines += [f"r{i},{x:.3f},{y:.3f},{KINDS[i]}" for i, (x, y) in enumerate(X)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_many(path, n):
    """As `write_rows`, with more rows."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 2)) + 8 * rng.integers(0, 5, size=(n, 1))
    lines = ["id,x,y,kind", *(f"r{i},{x:.3f},{y:.3f},-" for i, (x, y) in enumerate(X))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def opening(path, **options):
    given = {"choices": {"id_column": "id", "drop": ("kind",)}, "seed": 0, **options}
    return Opening(path, path.with_name(path.name + ".answers.db"), **given)


class Browser:
    """A client that has shown the token, and makes a new key for every write."""

    keys = itertools.count(1)

    def __init__(self, app, gate, name="Ann"):
        self.http = TestClient(app, base_url=BASE, raise_server_exceptions=False)
        self.http.headers["origin"] = BASE
        assert self.http.get(f"/?token={gate.token}").status_code == 200
        self.name = self.post("me", name=name)["name"]

    def key(self):
        return f"key-{next(self.keys):08d}"

    def get(self, path, status=200, **query):
        reply = self.http.get(f"/api/{path}", params=query)
        assert reply.status_code == status, reply.text
        return reply.json()

    def post(self, path, status=200, **body):
        reply = self.http.post(f"/api/{path}", json=body)
        assert reply.status_code == status, reply.text
        return reply.json()

    def write(self, path, status=200, **body):
        return self.post(path, status, **{"key": self.key(), **body})

    def answer(self, question, word=None, status=200, **body):
        """Answer a question; with the truth if no word is given."""
        rows = question["rows"]
        word = word or ("same" if KINDS[rows[0]] == KINDS[rows[1]] else "different")
        given = {"question": question["id"], "rows": rows, "answer": word, **body}
        told = self.write("answer", status, **given)
        if "next" in body and status == 200 and told["next"] is None and told["done"] is None:
            told |= self.next_question(kind=body["next"])
        return told

    def question(self, **body):
        return self.next_question(**body)["next"]

    def next_question(self, **body):
        """As the page does: while a question is being planned it asks again."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            reply = self.post("question", **body)
            if reply["question"] is not None or reply["done"] is not None:
                return {"next": reply["question"], "done": reply["done"]}
            time.sleep(0.01)
        raise AssertionError("no question was ever planned")

    def settle(self, version=0):
        """Wait until the rows are clustered by all answers."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            fit = self.get("state")["fit"]
            if fit["version"] > version and not fit["running"] and not fit["behind"]:
                return fit["version"]
            time.sleep(0.01)
        raise AssertionError(f"the rows were never clustered: {fit}")


@contextmanager
def opened(folder, gate, **options):
    """A browser on a studio that was opened with these options."""
    studio = Studio(folder)
    studio.open(opening(folder / "rows.csv", **options))
    state = studio.wait(60)
    assert state["phase"] == "ready", state
    try:
        yield Browser(make_app(studio, gate), gate)
    finally:
        studio.close()
