"""How long the studio takes from an answer to the next question, and how much memory it needs.

    python benchmarks/studio.py --rows 100000 --answers 200
    python benchmarks/studio.py --rows 1000000 --columns 20 --answers 20 --clients 1
    python benchmarks/studio.py --rows 100000 --clients 20 --seconds 60 --answers 100000
    python benchmarks/studio.py --rows 1000000 --memory

Starts the real command on a table that it writes, answers as the truth has it, and prints when
the first page was there, when the first question was, the times from an answer to the next
question (which is in the same reply), how often it was still being planned and for how long, and
the memory of the server beside that of the table. CPU seconds of the server are printed too: on a
machine that does other things, wall seconds say little.

`--memory` opens the table in this process instead, after everything was imported for a small one,
and prints the most memory that opening, the first question and the first clusterings took beyond
that, beside the table as it was read.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import numpy as np


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=12)
    parser.add_argument("--answers", type=int, default=200, help="of every client")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.0, help="answer for no longer than this")
    parser.add_argument("-k", action="store_true", help="tell the number of clusters")
    parser.add_argument("--memory", action="store_true", help="only the memory, in this process")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, truth = write_table(Path(folder) / "rows.csv", options)
        if options.memory:
            memory_of_phases(Path(folder), truth, options)
            return
        more = ["-k", str(options.clusters)] if options.k else []
        measure(data, truth, options, more)


def write_table(path: Path, options: argparse.Namespace) -> tuple[Path, np.ndarray]:
    """Blobs, as CSV with an id."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, options.clusters, options.rows)
    middles = rng.normal(scale=6, size=(options.clusters, options.columns))
    names = ",".join(f"c{j}" for j in range(options.columns))
    with path.open("w") as stream:
        stream.write(f"id,{names}\n")
        for lo in range(0, options.rows, 50_000):
            part = truth[lo : lo + 50_000]
            X = middles[part] + rng.normal(size=(part.size, options.columns))
            stream.writelines(
                f"r{lo + i},{','.join(f'{v:.4f}' for v in row)}\n" for i, row in enumerate(X)
            )
    return path, truth


def measure(data: Path, truth: np.ndarray, options: argparse.Namespace, more: list[str]) -> None:
    """Start the server, answer, print."""
    begun = time.monotonic()
    command = "from coterie.cli.main import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", command, "studio", str(data), "--id", "id", "--no-browser", *more],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        link = child.stdout.readline().strip()
        base = link.partition("/?")[0]
        client = httpx.Client(base_url=base, timeout=600)
        client.get(link)
        client.get("/").raise_for_status()
        print(f"first page           {time.monotonic() - begun:8.2f} s")
        waited = 0.0
        while (state := client.get("/api/state").json())["phase"] not in ("ready", "failed"):
            time.sleep(0.1)
        assert state["phase"] == "ready", state
        print(f"first question       {time.monotonic() - begun:8.2f} s")
        before = cpu_seconds(child.pid)
        times: list[float] = []
        waits: list[float] = []
        workers = [
            threading.Thread(
                target=answer, args=(base, link, f"p{i}", truth, options, times, waits)
            )
            for i in range(options.clients)
        ]
        begun = time.monotonic()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        waited = time.monotonic() - begun
        median, p95, worst = np.percentile(times, [50, 95, 100]) * 1000
        spent = cpu_seconds(child.pid) - before
        print(f"answer to question   {median:8.0f} ms median, {p95:.0f} p95, {worst:.0f} at most")
        print(f"{len(waits)} waited for a plan, {max(waits, default=0):.2f} s at most")
        print(f"{len(times)} answers in {waited:.1f} s; CPU of the server {spent:.1f} s")
        for path in ("/api/map/points", "/api/clusters", "/api/state"):
            one = time.monotonic()
            size = len(client.get(path).content)
            print(f"{path:20s} {(time.monotonic() - one) * 1000:8.0f} ms, {size} bytes")
        memory(child.pid, data, options)
    finally:
        child.kill()
        child.wait()


def answer(
    base: str,
    link: str,
    name: str,
    truth: np.ndarray,
    options: argparse.Namespace,
    times: list[float],
    waits: list[float],
) -> None:
    """One person who knows the truth."""
    client = httpx.Client(base_url=base, timeout=600)
    client.get(link)
    client.post("/api/me", json={"name": name})
    question = asked(client, [])
    end = time.monotonic() + (options.seconds or np.inf)
    for _ in range(options.answers):
        if question is None or time.monotonic() > end:
            return
        i, j = question["rows"]
        body = {
            "key": uuid.uuid4().hex,
            "question": question["id"],
            "rows": [i, j],
            "answer": "same" if truth[i] == truth[j] else "different",
            "despite_clash": True,
            "next": "pair",
        }
        begun = time.monotonic()
        reply = client.post("/api/answer", json=body)
        times.append(time.monotonic() - begun)
        reply.raise_for_status()
        question = reply.json()["next"] or asked(client, waits)


def asked(client: httpx.Client, waits: list[float]) -> dict[str, Any] | None:
    """The next question once it is planned; None when nothing is left."""
    begun = time.monotonic()
    while True:
        reply = client.post("/api/question", json={}).json()
        if reply["question"] is not None or reply["done"] is not None:
            waits.append(time.monotonic() - begun)
            question: dict[str, Any] | None = reply["question"]
            return question
        time.sleep(0.1)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, all threads together (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int, data: Path, options: argparse.Namespace) -> None:
    """Memory of the server now and at its most, beside the table as text and as numbers."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    now, most = (int(status[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    text = data.stat().st_size / 2**20
    numbers = options.rows * options.columns * 8 / 2**20
    print(f"memory               {now:8.0f} MB now, {most:.0f} MB at most")
    print(f"table                {text:8.0f} MB as CSV, {numbers:.0f} MB as features")


class Watch(threading.Thread):
    """The most memory that this process has had since `begin`, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0.0
        self.start()

    @property
    def now(self) -> float:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def begin(self) -> None:
        self.most = self.now

    def run(self) -> None:
        while True:
            self.most = max(self.most, self.now)
            time.sleep(0.02)


def memory_of_phases(folder: Path, truth: np.ndarray, options: argparse.Namespace) -> None:
    """Open the table here, answer some questions, wait for the clusterings; print the peaks."""
    from coterie.studio import Studio

    studio = Studio(folder)
    few = argparse.Namespace(**{**vars(options), "rows": 3000})
    write_table(folder / "few.csv", few)

    def open_table(name: str) -> None:
        studio.call("ann", "open", {"key": uuid.uuid4().hex, "file": name, "id": "id"})
        assert studio.wait(900)["phase"] == "ready"

    open_table("few.csv")
    studio.desk.refits.wait(900)
    studio.close()
    watch = Watch()
    before = watch.now
    open_table("rows.csv")
    table = studio.desk.asking.table
    size = sum(table.column(n).values.nbytes for n in table.names) / 2**20
    print(f"table as read        {size:8.0f} MB; imports {before:.0f} MB", flush=True)

    def say(what: str, value: float) -> None:
        beyond = value - before
        print(f"{what:20s} {beyond:8.0f} MB, {beyond / size:.2f} x the table", flush=True)

    say("most in opening", watch.most)
    say("at first question", watch.now)
    watch.begin()
    studio.desk.refits.wait(900)
    say("most in first fit", watch.most)
    watch.begin()
    question = studio.call("ann", "question", {})["question"]
    for _ in range(options.answers):
        i, j = question["rows"]
        told = {"key": uuid.uuid4().hex, "question": question["id"], "rows": [i, j], "next": "pair"}
        word = "same" if truth[i] == truth[j] else "different"
        question = studio.call("ann", "answer", {**told, "answer": word})["next"]
        while question is None:  # it is being planned
            question = studio.call("ann", "question", {})["question"]
    studio.desk.refits.wait(900)
    say(f"{options.answers} answers, a fit", watch.most)
    os._exit(0)  # nobody waits for what is still at work


if __name__ == "__main__":
    main()
