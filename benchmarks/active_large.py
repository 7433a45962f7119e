"""Questions about many rows: CPU time of set-up and of `ask`, and where questions go.

Round clusters of equal size, and one apart that holds 1 row in 300. Time is that of the process
(`time.process_time`), so that other programs on the machine do not count.

Run: `python benchmarks/active_large.py [rows] [columns] [clusters] [answers]`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from coterie.active import ActiveSession, LabelOracle
from coterie.metrics import adjusted_rand_score

RARE = 300


def blobs(n: int, columns: int, clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping round clusters, and a small one apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(clusters, size=n)
    X = (rng.normal(size=(clusters, columns)) * 1.2)[y] + rng.normal(size=(n, columns))
    rare = rng.choice(n, n // RARE, replace=False)
    X[rare] = 4.0 + 0.5 * rng.normal(size=(rare.size, columns))
    y[rare] = clusters
    return X, y


def main(n: int = 1_000_000, columns: int = 20, clusters: int = 10, answers: int = 200) -> None:
    """Print set-up, median and 95th percentile of `ask`, and what was found."""
    X, y = blobs(n, columns, clusters)
    oracle = LabelOracle(y)
    begin = time.process_time()
    session = ActiveSession(X, random_state=0)
    query = session.ask()
    print(
        f"{n} x {columns} rows: set-up with the first question {time.process_time() - begin:.1f} s"
    )
    seconds, asked = [], set()
    while query is not None and len(seconds) < answers:
        asked.update(query.rows)
        session.tell(query, oracle(query).answer)
        begin = time.process_time()
        query = session.ask()
        seconds.append(time.process_time() - begin)
    found = np.array(seconds)
    anchors = set(session._planner.features.anchors.tolist())  # type: ignore[attr-defined]
    print(
        f"{answers} answers: ask median {np.median(found):.3f} s, "
        f"p95 {np.quantile(found, 0.95):.3f}, most {found.max():.3f}; {len(asked)} rows asked, "
        f"{len(asked - anchors)} no anchors, {sum(y[row] == clusters for row in asked)} rare; "
        f"clusters found {session.n_found}"
    )
    begin = time.process_time()
    labels = session.labels()
    seconds_of_labels = time.process_time() - begin
    alone = len(set(labels[y == clusters])) == 1
    print(
        f"labels {seconds_of_labels:.1f} s, ARI {adjusted_rand_score(y, labels):.3f}, "
        f"rare cluster in one piece: {alone}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
