"""Go on trying: `make fuzz MINUTES=10`. Cases that nobody has tried yet, each from a printed seed.

In turn: hypothesis with a thousand examples over constraints, files, sessions and engines (their
tests in the suite, under the profile "fuzz"), broken files through every command, damaged logs.
A finding ends the run with its seed or example; it becomes a test.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

#: Tests by hypothesis against naive twins or stated properties.
HYPOTHESIS = [
    "tests/constraints",
    "tests/active/test_knowledge.py",
    "tests/active/test_session.py",
    "tests/tables/test_formats.py",
    "tests/tables/test_reading.py",
    "tests/report/test_html.py",
    "tests/metrics/test_partition.py",
    "tests/propagation/test_propagate_gaussian.py",
]


def by_hypothesis(seed: int, seconds: float) -> bool:
    """One file of tests with fresh examples; whether it held."""
    tests = HYPOTHESIS[seed % len(HYPOTHESIS)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-x", tests]
    environment = os.environ | {"HYPOTHESIS_PROFILE": "fuzz"}
    done = subprocess.run(
        [*command, f"--hypothesis-seed={seed}", "-k", "given or hypothesis or test"],
        cwd=HERE.parents[1],
        env=environment,
        timeout=max(seconds, 60) + 300,
    )
    return done.returncode in (0, 5)


def by_broken_files(seed: int, seconds: float) -> bool:
    """Broken files through every command, from this seed on, for so long."""
    from commands import READING, broken_files, make_folder

    end, before = time.monotonic() + seconds, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            make_folder()
            while time.monotonic() < end:
                for command in READING:
                    broken_files(command, range(seed, seed + 9))
                seed += 9
        except AssertionError as error:
            print(error)
            return False
        finally:
            os.chdir(before)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="default: another one each time")
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1000, 2**31) if asked.seed is None else asked.seed
    end, rounds = time.monotonic() + 60 * asked.minutes, 0
    while (left := end - time.monotonic()) > 0:
        for way in (by_broken_files, by_hypothesis):
            print(f"{way.__name__}: seed {seed}", flush=True)
            if not way(seed, min(left / 2, 120.0)):
                print(f"Found by {way.__name__} with --seed {seed}.")
                return 1
        rounds, seed = rounds + 1, seed + 100_003
    print(f"{rounds} rounds; nothing found.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
