"""Time of `ask` as answers accumulate: 100,000 × 50 rows, 1,000 answers.

Prints, for each strategy, median and 95th percentile of the time of one question. Growth is the
median over the last 100 questions that open a new row, divided by the same over the first 100 (to
go on with a row is much cheaper, and how often that happens changes on the way).
Run: `python benchmarks/active.py [n]`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from coterie.active import ActiveSession, ExploreConsolidate, InformationGain, LabelOracle

ANSWERS = 1000
COLUMNS = 50
CLUSTERS = 10


def blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping round clusters."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLUSTERS, size=n)
    return rng.normal(size=(CLUSTERS, COLUMNS))[y] * 0.7 + rng.normal(size=(n, COLUMNS)), y


def measure(X: np.ndarray, y: np.ndarray, strategy: object) -> tuple[float, np.ndarray, np.ndarray]:
    """Seconds to start (with the first question), of every later question, and which open a row."""
    oracle = LabelOracle(y)
    begin = time.perf_counter()
    session = ActiveSession(X, strategy=strategy, random_state=0)
    query = session.ask()
    start = time.perf_counter() - begin
    seconds, opens, seen = [], [], set()
    while query is not None and len(seconds) < ANSWERS:
        session.tell(query, oracle(query).answer)
        begin = time.perf_counter()
        query = session.ask()
        seconds.append(time.perf_counter() - begin)
        opens.append(query is not None and query.rows[0] not in seen)
        seen.add(query.rows[0] if query is not None else -1)
    return start, np.array(seconds), np.array(opens)


def main(n: int = 100_000) -> None:
    """Print one line a strategy."""
    X, y = blobs(n)
    begin = time.perf_counter()
    ((X - X[0]) ** 2).sum(axis=1)
    one_pass = time.perf_counter() - begin
    print(f"{n} x {COLUMNS} rows, {ANSWERS} answers; one pass over the rows {one_pass:.3f} s")
    for strategy in (ExploreConsolidate(CLUSTERS), ExploreConsolidate(), InformationGain()):
        start, s, opens = measure(X, y, strategy)
        early, late = np.median(s[opens][:100]), np.median(s[opens][-100:])
        print(
            f"{strategy!r:60} start {start:6.2f} s  median {np.median(s):.4f}  "
            f"p95 {np.quantile(s, 0.95):.4f}  late/early {late / early:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
