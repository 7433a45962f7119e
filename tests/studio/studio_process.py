"""The real command on a real port, and clients that go on whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid

import httpx


class Server:
    """What answers at an address; `kill` ends it."""

    link: str

    @property
    def base(self):
        return self.link.partition("/?")[0]

    def client(self, name):
        client = httpx.Client(base_url=self.base, headers={"origin": self.base}, timeout=60)
        client.get(self.link)
        client.post("/api/me", json={"name": name}).raise_for_status()
        return client

    def wait(self, seconds=120):
        """Until there are questions."""
        client = self.client("waiting")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = client.get("/api/state").json()
            if state["phase"] in ("ready", "failed"):
                assert state["phase"] == "ready", state
                return state
            time.sleep(0.02)
        raise AssertionError(state)


class Process(Server):
    """`coterie studio` in a process of its own; the address is the first line it prints."""

    def __init__(self, *arguments):
        code = "from coterie.cli.main import main; main()"
        self.child = subprocess.Popen(
            [sys.executable, "-c", code, "studio", *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.link = self.child.stdout.readline().strip()

    def kill(self, number=signal.SIGKILL):
        self.child.send_signal(number)
        self.child.wait(30)
        self.child.stdout.close()


_NURSERY = """
import json, os, sys
from pathlib import Path
from coterie.cli.main import main
from coterie.studio import Studio
import coterie.studio.serving, coterie.studio.server
from coterie.studio.opening import Opening

data = Path(sys.argv[1])  # one session here loads all that others need
studio = Studio(data.parent)
studio.open(Opening(data, data.with_suffix(".db"), choices={"id_column": "id", "drop": ("kind",)}))
assert studio.wait(120)["phase"] == "ready"
studio.desk.refits.wait(60)
studio.close()
for line in sys.stdin:
    child = os.fork()
    if not child:
        sys.argv = ["coterie", *json.loads(line)]
        main()
        os._exit(0)
    print("pid", child, flush=True)
    os.waitpid(child, 0)
    print("ended", child, flush=True)
"""


class Nursery:
    """Starts `coterie studio` by forks of a process that has loaded everything: many in a minute.

    Threads would not be there in a fork, so libraries have one each.
    """

    def __init__(self, data):
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONUNBUFFERED"), "1")
        self.parent = subprocess.Popen(
            [sys.executable, "-c", _NURSERY, str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **one},
        )

    def start(self, *arguments):
        words = ["studio", *map(str, arguments), "--no-browser"]
        self.parent.stdin.write(json.dumps(words) + "\n")
        self.parent.stdin.flush()
        return Forked(self)

    def line(self):
        line = self.parent.stdout.readline().strip()
        assert line, "the nursery has ended"
        return line

    def close(self):
        self.parent.kill()
        self.parent.wait(30)
        self.parent.stdin.close()
        self.parent.stdout.close()


class Forked(Server):
    """A studio of a nursery."""

    def __init__(self, nursery):
        self.nursery = nursery
        first = sorted([nursery.line(), nursery.line()])  # of the two processes, in any order
        self.link, self.pid = first[0], int(first[1].removeprefix("pid "))

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        while self.nursery.line() != f"ended {self.pid}":
            pass


def asked(client):
    """The next question, once it is planned; None when nothing is left to ask."""
    while True:
        reply = client.post("/api/question", json={}).json()
        if reply["question"] is not None or reply["done"] is not None:
            return reply["question"]
        time.sleep(0.05)


class Answerer(threading.Thread):
    """Answers until told to stop; remembers every key that was acknowledged."""

    def __init__(self, process, name, stop, most=10**9):
        super().__init__(daemon=True)
        self.process, self.name_, self.stop, self.most = process, name, stop, most
        self.acknowledged: dict[str, list[int]] = {}
        self.errors: list[str] = []
        self.seconds: list[float] = []

    def run(self):
        try:
            client = self.process.client(self.name_)
            question = asked(client)
            while not self.stop.is_set() and question is not None:
                if len(self.acknowledged) >= self.most:
                    return
                body = {
                    "key": uuid.uuid4().hex,
                    "question": question["id"],
                    "rows": question["rows"],
                    "answer": "different" if sum(question["rows"]) % 3 else "same",
                    "despite_clash": True,
                    "next": "pair",
                }
                begun = time.monotonic()
                reply = client.post("/api/answer", json=body)
                self.seconds.append(time.monotonic() - begun)
                if reply.status_code != 200:
                    self.errors.append(reply.text)
                    return
                self.acknowledged[body["key"]] = reply.json()["numbers"]
                question = reply.json()["next"] or asked(client)
        except (httpx.HTTPError, json.JSONDecodeError, KeyError) as error:
            self.errors.append(repr(error))
