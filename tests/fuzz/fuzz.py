"""Go on trying: `make fuzz MINUTES=10`. Cases that nobody has tried yet, each from a printed seed.

In turn: broken files through every command, saved models and logs of answers, broken and forged,
every engine beside its naive twin, fits with hard pairs, groups and sizes beside all labellings,
rows in files beside the same in memory, records, sessions and their logs, hypothesis with a
thousand examples over constraints, sessions and tables (their tests in the suite, under the profile
"fuzz"), and bytes led by what they reach in the readers (atheris, where it is installed: `pip
install atheris`). A finding ends the run with its seed or example; it becomes a test. At the end it
says how many cases of each were tried.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

#: Tests by hypothesis against naive twins or stated properties.
HYPOTHESIS = [
    "tests/constraints",
    "tests/active/test_knowledge.py",
    "tests/active/test_session.py",
    "tests/active/test_strategies.py",
    "tests/tables/test_formats.py",
    "tests/tables/test_reading.py",
    "tests/report/test_html.py",
    "tests/metrics/test_partition.py",
    "tests/model_selection/test_pair_k_fold.py",
    "tests/propagation/test_propagate_gaussian.py",
    "tests/test_stability.py",
]
EXAMPLES = 1000  # of each test, as the profile says


class Found(Exception):
    """Something that may never be."""


def by_hypothesis(seed: int, seconds: float) -> int:
    """One file of tests with fresh examples."""
    tests = HYPOTHESIS[seed % len(HYPOTHESIS)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-x", tests]
    done = subprocess.run(
        [*command, f"--hypothesis-seed={seed}", "--hypothesis-show-statistics"],
        cwd=ROOT,
        env=os.environ | {"HYPOTHESIS_PROFILE": "fuzz"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Found(done.stdout + done.stderr)
    return sum(map(int, re.findall(r"(\d+) passing examples", done.stdout)))


def by_files(seed: int, seconds: float) -> int:
    """Broken files through every command."""
    from commands import READING, broken_files, make_folder

    end, before, tried = time.monotonic() + seconds, os.getcwd(), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            make_folder()
            while time.monotonic() < end:
                for command in READING:
                    broken_files(command, range(seed, seed + 9))
                    tried += 9
                seed += 9
        finally:
            os.chdir(before)
    return tried


def by_bytes(seed: int, seconds: float) -> int:
    """Bytes through the readers, by atheris."""
    if importlib.util.find_spec("atheris") is None:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "bytes_fuzz.py"), str(int(seconds)), str(seed)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        crashes = [path.read_bytes() for path in Path(folder).glob("*-*") if path.is_file()]
    if done.returncode or crashes:
        raise Found(f"{done.stderr[-3000:]}\n{crashes}")
    return int(re.findall(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)[-1])


def _one_by_one(module: str, name: str) -> Callable[[int, float], int]:
    def way(seed: int, seconds: float) -> int:
        target = getattr(importlib.import_module(module), name)
        end, tried = time.monotonic() + seconds, 0
        with tempfile.TemporaryDirectory() as folder:
            while time.monotonic() < end:
                target(seed + tried, Path(folder))
                tried += 1
        return tried

    return way


WAYS: dict[str, Callable[[int, float], int]] = {
    "files": by_files,
    "models": _one_by_one("targets", "damaged_model"),
    "forged": _one_by_one("targets", "forged_model"),
    "logs": _one_by_one("targets", "damaged_log"),
    "forged-logs": _one_by_one("forged_logs", "forged_log"),
    "engines": _one_by_one("targets", "engine_and_twin"),
    "labels": _one_by_one("fits", "hard_labels"),
    "rows": _one_by_one("fits", "rows_in_files"),
    "records": _one_by_one("fits", "records"),
    "sessions": _one_by_one("fits", "session_log"),
    "hypothesis": by_hypothesis,
    "bytes": by_bytes,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="default: another one each time")
    parser.add_argument("--only", nargs="*", choices=WAYS, default=list(WAYS))
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1000, 2**31) if asked.seed is None else asked.seed
    end, tried = time.monotonic() + 60 * asked.minutes, Counter[str]()
    while (left := end - time.monotonic()) > 0:
        for name in asked.only:
            print(f"{name}: seed {seed}", end="", flush=True)
            try:
                tried[name] += WAYS[name](seed, min(left / len(asked.only), 60.0))
                print(f", {tried[name]:,} so far", flush=True)
            except (AssertionError, Found) as error:
                print(f"\n{error}\nFound by `--only {name} --seed {seed}`.")
                return 1
        seed += 100_003
    print("Nothing found. Tried: " + ", ".join(f"{tried[name]:,} {name}" for name in asked.only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
