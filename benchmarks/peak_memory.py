"""Peak memory of every estimator at 2,000,000 x 16 float32 with 200,000 pairs, as a multiple of X.

    python benchmarks/peak_memory.py                  # every estimator, in turn
    python benchmarks/peak_memory.py pckmeans ppc     # some of them

One process each, as the estimator is by default but for K = 10. What is counted is the most that
the process held during the fit, without what it held before X and the pairs were made: by then the
library is loaded and a small fit has compiled its kernels. X itself is 1. A fit that takes longer
than `--limit` seconds is ended and reported with what it held until then.
Linux only: the peak is read from /proc. Kept in `docs/reliability.json`, shown in
`docs/reliability.md`; `python benchmarks/reliability.py memory` does the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

N, D, K, PAIRS = 2_000_000, 16, 10, 200_000
LIMIT = 180.0  # seconds of a fit
HARD_LIMIT = 12 << 30  # bytes: rather a MemoryError than a machine that swaps
MB = 1 << 20


# -- in the process that fits --------------------------------------------------------------------
def held(pid: Any = "self", what: str = "VmRSS") -> int:
    """Bytes that a process holds ("VmRSS"), or the most it has held ("VmHWM")."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"process {pid} says nothing of {what}")


def forget_peak() -> None:
    """From here on the peak is counted anew."""
    Path("/proc/self/clear_refs").write_text("5")


def problem(n: int, pairs: int) -> tuple[Any, Any]:
    """Rows (n, D) in K blobs that touch, and true pairs."""
    import numpy as np

    from coterie.constraints import sample_pairs

    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n, dtype=np.int32)
    X = rng.standard_normal((n, D), dtype=np.float32)
    X += 1.5 * rng.standard_normal((K, D), dtype=np.float32)[y]
    X -= X.min()  # some distortions want no negative number
    return X, sample_pairs(y, pairs, random_state=0)


def fit(name: str) -> None:
    """In a process of its own: say what is held before, and at the most during the fit."""
    import resource

    from sklearn.utils.validation import has_fit_parameter

    from coterie.estimators import estimator_class
    from coterie.exceptions import CoterieError

    warnings.simplefilter("ignore")
    cls = estimator_class(name)
    takes = cls().get_params(deep=False)
    given = {key: K for key in ("n_clusters", "n_components") if key in takes}
    given |= {"random_state": 0} if "random_state" in takes else {}
    knows = has_fit_parameter(cls, "constraints")

    def run(X: Any, known: Any) -> None:
        cls(**given).fit(X, **({"constraints": known} if knows else {}))

    run(*problem(2_000, 200))
    before = held()
    X, known = problem(N, PAIRS)
    forget_peak()
    resource.setrlimit(resource.RLIMIT_AS, (HARD_LIMIT, HARD_LIMIT))
    print(json.dumps({"before": before, "rows": X.nbytes}), flush=True)
    began = time.monotonic()
    found: dict[str, Any] = {}
    try:
        run(X, known)
    except (CoterieError, MemoryError) as error:
        found["refused"] = f"{type(error).__name__}: {error}"
    found |= {"peak": held(what="VmHWM"), "seconds": time.monotonic() - began}
    print(json.dumps(found), flush=True)


# -- in the process that asks --------------------------------------------------------------------
def measure(name: str, limit: float) -> dict[str, Any]:
    """The peak of an estimator as a multiple of X, and how its fit ended."""
    command = [sys.executable, __file__, "--alone", name]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    first = child.stdout.readline()
    if not first:
        raise SystemExit(f"{name}: ended by {child.wait()} before its fit began.")
    start = json.loads(first)
    end, peak = time.monotonic() + limit, 0
    while child.poll() is None and time.monotonic() < end:
        time.sleep(0.2)
    if child.poll() is None:
        peak = held(child.pid, "VmHWM")
        child.kill()
        child.wait()
        found: dict[str, Any] = {"peak": peak, "ended": limit}
    else:
        last = child.stdout.readline()
        if not last:
            raise SystemExit(f"{name}: its fit ended the process by {child.returncode}.")
        found = json.loads(last)
    times = (found.pop("peak") - start["before"]) / start["rows"]
    return {"times": round(times, 2)} | found


def how(row: dict[str, Any]) -> str:
    """How a fit ended, in words."""
    if "ended" in row:
        return f"ended after {row['ended']:.0f} s: what it held until then"
    if "refused" in row:
        return "refused: " + row["refused"].split(". ")[0].replace("|", "\\|")
    return f"{row['seconds']:.0f} s"


def table(kept: dict[str, dict[str, Any]]) -> str:
    """The peaks as a Markdown table."""
    from reliability import when

    from coterie.estimators import ESTIMATORS, estimator_class

    lines = ["| estimator | peak, as a multiple of X | fit | when, commit |", "|---|--:|---|---|"]

    for name in ESTIMATORS:
        if name in kept:
            cls = estimator_class(name).__name__
            row = kept[name]
            lines.append(f"| {cls} | {row['times']:.2f} | {how(row)} | {when(row)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="estimator", help="default: all")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a fit")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.alone:
        return fit(asked.alone)
    from reliability import keep_memory, measured

    from coterie.estimators import ESTIMATORS

    for name in asked.names or ESTIMATORS:
        row = measure(name, asked.limit) | measured()
        print(f"{name}: {row['times']:.2f} x X, {how(row)}", flush=True)
        keep_memory(name, row)


if __name__ == "__main__":
    main()
