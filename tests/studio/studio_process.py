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


class Process:
    """`coterie studio` in a process of its own; the address is the first line it prints."""

    def __init__(self, *arguments):
        code = "from coterie.cli.main import main; main()"
        begun = time.monotonic()
        self.child = subprocess.Popen(
            [sys.executable, "-c", code, "studio", *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.link = self.child.stdout.readline().strip()
        self.seconds = time.monotonic() - begun
        self.base = self.link.partition("/?")[0]

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

    def kill(self, number=signal.SIGKILL):
        self.child.send_signal(number)
        self.child.wait(30)
        self.child.stdout.close()


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
            question = client.post("/api/question", json={}).json()["question"]
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
                question = reply.json()["next"]
        except (httpx.HTTPError, json.JSONDecodeError, KeyError) as error:
            self.errors.append(repr(error))
