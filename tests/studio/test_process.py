"""The real command: first line, several people, sudden deaths, events, a second server."""

from __future__ import annotations

import collections
import json
import os
import random
import shutil
import signal
import sqlite3
import ssl
import subprocess
import threading
import time

import httpx
import pytest
from studio_browser import write_many, write_rows
from studio_process import Answerer, Nursery, Process

OPTIONS = ("--id", "id", "--drop", "kind", "--seed", "0")


@pytest.fixture
def data(tmp_path):
    return write_rows(tmp_path / "rows.csv")


def logged(data):
    """Numbers of the answers in the log, and of each request the answers it recorded."""
    with sqlite3.connect(data.with_name(data.name + ".answers.db")) as log:
        numbers = [n for (n,) in log.execute("SELECT number FROM events WHERE number NOTNULL")]
        requests = dict(
            log.execute(
                "SELECT key, group_concat(number) FROM requests JOIN events "
                "ON id BETWEEN first_event AND last_event GROUP BY key"
            )
        )
    return numbers, requests


def check(data, acknowledged):
    """Every acknowledged answer is there once."""
    numbers, requests = logged(data)
    assert len(set(numbers)) == len(numbers)
    for key, told in acknowledged.items():
        assert requests[key] == ",".join(map(str, told)), "lost"
    given = collections.Counter(n for told in acknowledged.values() for n in told)
    assert not given or max(given.values()) == 1, "one number for two answers"
    assert len(requests) == len(numbers), "an answer without its request"


def test_the_command_prints_its_address_first(data):
    process = Process(data, *OPTIONS)
    try:
        assert process.link.startswith("http://127.0.0.1:")
        stranger = httpx.Client(base_url=process.base)
        assert stranger.get("/api/state").status_code == 401
        state = process.wait()
        assert state["data"]["n_rows"] == 36
    finally:
        process.kill(signal.SIGINT)
    assert process.child.returncode == 0
    second = Process(data, *OPTIONS)  # the log is free again
    try:
        second.wait()
    finally:
        second.kill(signal.SIGTERM)


def deaths(data, rounds, start, people=3):
    rng = random.Random(0)
    acknowledged: dict[str, list[int]] = {}
    for death in range(rounds):
        process = start(data, *OPTIONS)
        try:
            process.wait()
            stop = threading.Event()
            workers = [Answerer(process, f"p{i}", stop) for i in range(people)]
            for worker in workers:
                worker.start()
            some, end = rng.randint(2, 12), time.monotonic() + 60
            while sum(len(w.acknowledged) for w in workers) < some and time.monotonic() < end:
                ended = [worker.errors or "nothing left to ask" for worker in workers]
                assert any(worker.is_alive() for worker in workers), (
                    death,
                    len(acknowledged),
                    ended,
                )
                time.sleep(0.001)
            time.sleep(rng.random() * 0.03)  # in the middle of whatever the others are doing
        finally:
            process.kill()
        stop.set()
        for worker in workers:
            worker.join(30)
            acknowledged |= worker.acknowledged
        check(data, acknowledged)
        print(f"\rdeath {death + 1}: {len(acknowledged)} acknowledged", end="", flush=True)
    return acknowledged


def test_no_answer_is_lost_by_a_sudden_death(data):
    assert len(deaths(data, 5, Process)) >= 10


@pytest.mark.slow
def test_no_answer_is_lost_by_many_sudden_deaths(tmp_path):
    """COTERIE_DEATHS=50 runs a part; `-s` shows what held."""
    data = write_many(tmp_path / "rows.csv", 2000)  # of 500 all is known after 1,000 answers
    rounds = int(os.environ.get("COTERIE_DEATHS", "200"))
    other = tmp_path / "nursery"
    other.mkdir()
    nursery = Nursery(write_rows(other / "rows.csv"))
    try:
        acknowledged = deaths(data, rounds, nursery.start)
    finally:
        nursery.close()
    print(f"{rounds} deaths: {len(acknowledged)} acknowledged answers, each there once")
    assert len(acknowledged) >= 2 * rounds


def together(data, people, *, seconds=600.0, most=10**9):
    """All answer for so long, or so many questions each."""
    process = Process(data, *OPTIONS)
    try:
        process.wait()
        stop = threading.Event()
        workers = [Answerer(process, f"p{i}", stop, most) for i in range(people)]
        for worker in workers:
            worker.start()
        end = time.monotonic() + seconds
        while any(worker.is_alive() for worker in workers) and time.monotonic() < end:
            time.sleep(0.01)
        stop.set()
        for worker in workers:
            worker.join(60)
        assert [worker.errors for worker in workers if worker.errors] == []
        acknowledged = {k: v for worker in workers for k, v in worker.acknowledged.items()}
        times = sorted(t for worker in workers for t in worker.seconds)
        shown = process.client("looking").get("/api/history?limit=1").json()["total"]
        assert shown == sum(len(numbers) for numbers in acknowledged.values())
    finally:
        process.kill()
    check(data, acknowledged)
    return len(acknowledged), times


def test_twenty_people_lose_and_double_nothing(data):
    count, _ = together(data, people=20, most=3)
    assert count >= 20


@pytest.mark.slow
def test_twenty_people_for_a_minute(tmp_path):
    count, times = together(write_many(tmp_path / "rows.csv", 5000), people=20, seconds=60)
    late = times[int(0.95 * len(times))]
    print(f"20 people, 60 s: {count} answers, 95 % within {1000 * late:.0f} ms")
    assert count > 500
    assert late < 0.2


class Listening(threading.Thread):
    """Collects the events of a page."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client = client
        self.events: list[tuple[str, dict]] = []
        self.first = threading.Event()

    def run(self):
        try:
            with self.client.stream("GET", "/api/events", timeout=60) as reply:
                assert reply.headers["content-type"].startswith("text/event-stream")
                name = ""
                for line in reply.iter_lines():
                    if line.startswith("event: "):
                        name = line[7:]
                    elif line.startswith("data: "):
                        self.events.append((name, json.loads(line[6:])))
                        self.first.set()
        except httpx.HTTPError:
            pass

    def wait_for(self, condition):
        end = time.monotonic() + 60
        while not any(condition(name, data) for name, data in list(self.events)):
            assert time.monotonic() < end, self.events
            time.sleep(0.01)


def test_every_page_is_live(data):
    process = Process(data, *OPTIONS)
    try:
        process.wait()
        ann, bob = process.client("Ann"), process.client("Bob")
        page = Listening(process.client("Bob"))
        page.start()
        assert page.first.wait(30)
        assert page.events[0][0] == "state"
        question = ann.post("/api/question", json={}).json()["question"]
        body = {"key": "key-00000001", "question": question["id"], "rows": question["rows"]}
        ann.post("/api/answer", json={**body, "answer": "same"}).raise_for_status()
        page.wait_for(lambda name, data: name == "answers" and data["by"] == "Ann")
        told = next(data for name, data in page.events if name == "answers")
        assert told["counts"]["asked"] == 1
        assert told["counts"]["mine"] == 0
        assert not told["can_undo"]  # it is Ann's
        page.wait_for(lambda name, data: name == "fit" and not data["running"])
        bob.post("/api/guidelines", json={"key": "key-00000002", "text": "look twice"})
        page.wait_for(lambda name, data: name == "guidelines" and data["text"] == "look twice")
        page.wait_for(
            lambda name, data: name == "people" and [p["name"] for p in data["people"]] == ["Bob"]
        )
    finally:
        process.kill()


def test_the_network_is_refused_without_a_password(data, tmp_path):
    process = Process(data, "--host", "0.0.0.0")
    process.child.wait(30)
    process.child.stdout.close()
    assert process.child.returncode == 2
    assert process.link == ""


def certificate(folder):
    """A certificate for 127.0.0.1 that nobody else has signed."""
    paths = folder / "cert.pem", folder / "key.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    whom = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", *kind, *whom, "-out", paths[0], "-keyout", paths[1]],
        check=True,
        capture_output=True,
    )
    return paths


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_with_a_certificate_everything_is_encrypted(data, tmp_path):
    public, key = certificate(tmp_path)
    process = Process(data, *OPTIONS, "--certificate", public, "--key", key)
    try:
        assert process.link.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(public))
        with httpx.Client(base_url=process.base, verify=trusting) as client:
            entered = client.get(process.link)
            assert "; Secure" in entered.headers["set-cookie"]
            assert client.get("/api/state").json()["me"]
        with httpx.Client(base_url=process.base) as careful, pytest.raises(httpx.ConnectError):
            careful.get("/")  # nobody it knows has signed
        plain = process.base.replace("https:", "http:")
        with pytest.raises(httpx.HTTPError):
            httpx.get(plain)
    finally:
        process.kill()
