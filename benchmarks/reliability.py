"""What was tried to break Coterie, and what held: the counts of `docs/reliability.md`.

    python benchmarks/reliability.py                 # every topic, with its long tests
    python benchmarks/reliability.py --quick files   # one topic, without them
    python benchmarks/reliability.py files --only "five_hundred and ask"   # a piece of a topic
    python benchmarks/reliability.py memory          # the peaks of memory (peak_memory.py)

Each topic is a set of tests; a test says by the property "tried" how many cases it holds. What came
of each is kept in `docs/reliability.json` with its day and commit, so that a topic may be run in
pieces, and the page is written from them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
KEPT, PAGE = ROOT / "docs/reliability.json", ROOT / "docs/reliability.md"

#: Name: (what was tried, tests).
TOPICS: dict[str, tuple[str, list[str]]] = {
    "parameters": (
        "Odd values for every parameter of every estimator and transformer",
        ["tests/common/test_odd_parameters.py"],
    ),
    "arguments": (
        "Odd values for strategies, sessions, oracles, folds, distortions, constraints",
        ["tests/common/test_odd_arguments.py"],
    ),
    "calls": (
        "Odd values for every public function: comparing, reading, sampling, plotting, reporting",
        ["tests/common/test_odd_calls.py"],
    ),
    "matrices": (
        "Sparse matrices with indices outside them, for every estimator",
        ["tests/common/test_damaged.py"],
    ),
    "log": (
        "The log of answers: cut, bits flipped, full disk, two writers, read-only, odd ids",
        ["tests/active/test_damaged_log.py"],
    ),
    "files": (
        "Broken tables in nine formats through the commands that read them, and packed bombs",
        ["tests/fuzz/test_broken_files.py"],
    ),
    "hostile": (
        "Files made to do harm: bombs in Parquet, sheets and views, a million columns, pipes",
        ["tests/fuzz/test_hostile_files.py"],
    ),
    "outputs": (
        "Outputs that cannot be, and Ctrl-C or SIGTERM at random moments",
        ["tests/fuzz/test_outputs.py"],
    ),
    "side-by-side": (
        "Fits in threads, forked and spawned processes, joblib, a Dask worker; limits of BLAS",
        ["tests/common/test_side_by_side.py"],
    ),
    "wide": ("Wide and odd problems", ["tests/common/test_odd_problems.py"]),
    "markup": (
        "Markup and script in ids, columns, values and names of clusters",
        ["tests/report/test_markup.py"],
    ),
    "models": ("Forged and damaged model folders", ["tests/test_persistence.py"]),
    "targets": (
        "First cases of `make fuzz`: models and logs, broken and forged, engines and their twins",
        ["tests/fuzz/test_targets.py"],
    ),
}


#: Of a test: the cases that it holds, whether it failed, its day and its commit.
Ran = dict[str, list[Any]]


def run_topic(tests: list[str], quick: bool, only: str = "") -> Ran:
    """What came of each test that was not skipped."""
    day, commit = measured().values()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        marks = "not slow and not browser" if quick else "not browser"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", marks, "-k", only]
        subprocess.run([*command, f"--junitxml={report}", *tests], cwd=ROOT, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    ran = [case for case in cases if case.find("skipped") is None]
    return {c.get("name", ""): [_tried(c), int(_failed(c)), day, commit] for c in ran}


def _failed(case: Any) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _tried(case: Any) -> int:
    found = [p.get("value") for p in case.iter("property") if p.get("name") == "tried"]
    return int(found[0]) if found else 1


def measured() -> dict[str, str]:
    """When something is measured, and of which commit."""
    asked = ["git", "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return {"date": date.today().isoformat(), "commit": commit.stdout.strip()}


def when(row: dict[str, Any]) -> str:
    """That, in words; rows that were kept before it was noted have neither."""
    return f"{row['date']}, {row['commit']}" if "date" in row else "before 2026-11-18"


def total(row: dict[str, Any]) -> dict[str, Any]:
    """The sums of a topic; one that was kept before tests were kept apart is as it was."""
    if "ran" not in row:
        return row
    tried, failed, days, commits = zip(*row["ran"].values(), strict=True)
    made = list(dict.fromkeys(commits))
    said = ", ".join(made[-3:]) + (f" and {len(made) - 3} more" if len(made) > 3 else "")
    sums = {"tried": sum(tried), "tests": len(tried), "failed": sum(failed)}
    return sums | {"run": row["run"], "date": max(days), "commit": said}


def table(kept: dict[str, dict[str, Any]]) -> str:
    """The counts as a Markdown table."""
    lines = [
        "| what was tried | cases | tests | that failed | run | when, commit |",
        "|---|--:|--:|--:|---|---|",
    ]
    for name, (what, _) in TOPICS.items():
        if name in kept:
            row = total(kept[name])
            run = row.get("run") or ("short" if row["quick"] else "long")
            lines.append(
                f"| {what} | {row['tried']:,} | {row['tests']} | {row['failed']} | {run} | "
                f"{when(row)} |"
            )
    return "\n".join(lines)


def keep(change: dict[str, Any]) -> None:
    """Change what is kept, and write the page from it."""
    import peak_memory

    kept: dict[str, Any] = (json.loads(KEPT.read_text()) if KEPT.exists() else {}) | change
    text = json.dumps(kept, indent=1) + "\n"
    KEPT.write_text(re.sub(r"\[\s+([^][]*?)\s+\]", _in_a_line, text))
    page = PAGE.read_text()
    for name, text in (
        ("counts", table(kept)),
        ("memory", peak_memory.table(kept.get("memory", {}))),
    ):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page)


def _in_a_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r"\s*\n\s*", " ", found[1]) + "]"


def keep_tests(name: str, ran: Ran, run: str) -> None:
    """What came of tests of a topic; unless all were run, beside what came of the others before."""
    known = json.loads(KEPT.read_text()).get(name, {}) if KEPT.exists() else {}
    others = {} if run == "long" else known.get("ran", {})
    run = "pieces" if others.keys() - ran.keys() else run
    keep({name: {"run": run, "ran": {**others, **ran}}})


def keep_memory(name: str, row: dict[str, Any]) -> None:
    """The peak of an estimator (`peak_memory.py`)."""
    kept = json.loads(KEPT.read_text()).get("memory", {}) if KEPT.exists() else {}
    keep({"memory": kept | {name: row}})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("topics", nargs="*", metavar="topic", help="default: all")
    parser.add_argument("--quick", action="store_true", help="without the long tests")
    parser.add_argument("--only", default="", help="some tests of a topic, as pytest's -k")
    asked = parser.parse_args()
    failed = False
    for name in asked.topics or [*TOPICS, "memory"]:
        if name == "memory":
            subprocess.run([sys.executable, Path(__file__).with_name("peak_memory.py")], check=True)
            continue
        ran = run_topic(TOPICS[name][1], asked.quick, asked.only)
        failed |= any(row[1] for row in ran.values())
        keep_tests(name, ran, "pieces" if asked.only else "short" if asked.quick else "long")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
