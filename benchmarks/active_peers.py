"""Questions beside those of cobras-ts and scikit-query: ARI after 25, 50, 100 and 200 answers.

The peers need an environment of their own (cobras-ts was made for an older NumPy), so there are
three steps, which meet in a folder of .npz files:

    python benchmarks/active_peers.py export FOLDER [--sets iris wine ...] [--rows 300]
    PEERS/bin/python benchmarks/active_peers.py ask FOLDER      # pip install cobras-ts scikit-query
    python benchmarks/active_peers.py score FOLDER              # ours, and the table

Everybody is asked by the same oracle: whether it is wrong about a pair depends on the pair and the
draw alone. COBRAS clusters by itself and is not told K, as InformationGain. The strategies of
scikit-query are told K, start anew for every budget, and their pairs go to PCKMeans with that K.
Sets of six count as one question each and are asked for a third of the budget.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from hashlib import blake2b
from itertools import product
from pathlib import Path

import numpy as np

MARKS = (25, 50, 100, 200)
RATES = (0.0, 0.1)
DRAWS = 2
SETS = (
    "iris",
    "wine",
    "pendigits_389",
    "letters_ijl",
    "ionosphere",
    "ecoli",
    "glass",
    "pccc/col1/heart",
    "pccc/col1/newthyroid",
    "pccc/col1/vehicle",
    "pccc/col1/zoo",
    "shapes2d/aggregation",
)


def same(y: np.ndarray, i: int, j: int, rate: float, draw: int) -> bool:
    """What the oracle says of two rows."""
    a, b = sorted((int(i), int(j)))
    # A checksum would not do: those of similar pairs are alike.
    hashed = int.from_bytes(blake2b(f"{a} {b} {draw}".encode(), digest_size=8).digest())
    wrong = hashed / 2**64 < rate
    return bool(y[i] == y[j]) != wrong


# -- with coterie --------------------------------------------------------------------------
def export(folder: Path, names: list[str], most: int) -> None:
    """Standardised rows and classes of every set."""
    from sklearn.preprocessing import StandardScaler

    from coterie.datasets import load

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        bunch = load(name)
        rows = np.random.default_rng(0).permutation(len(bunch.target))[:most]
        X = StandardScaler().fit_transform(np.asarray(bunch.data)[rows])
        _, y = np.unique(bunch.target[rows], return_inverse=True)
        np.savez(folder / f"{name.rsplit('/', 1)[-1]}.npz", X=X, y=y)


def score(folder: Path) -> None:
    """Run ours, read what the peers did, print mean ARI (standard error over sets and draws).

    `results.csv` holds a line for every set, method, rate and draw; what is there is not run again.
    """
    file = folder / "results.csv"
    done = defaultdict(dict)
    if file.exists():
        with file.open(newline="") as lines:
            for name, who, rate, draw, *values in csv.reader(lines):
                done[name, float(rate), int(draw)][who] = [float(v) for v in values]
    paths = [path for path in sorted(folder.glob("*.npz")) if "@" not in path.name]
    for draw, rate, path in product(range(DRAWS), RATES, paths):
        cell = done[path.stem, rate, draw]
        if cell:
            continue
        X, y = (np.load(path)[key] for key in ("X", "y"))
        cell.update({**_ours(X, y, rate, draw), **_theirs(path, rate, draw)})
        with file.open("a", newline="") as lines:
            csv.writer(lines).writerows(
                [path.stem, who, rate, draw, *values] for who, values in cell.items()
            )
    found = defaultdict(list)
    for (_, rate, _), cell in done.items():
        for who, values in cell.items():
            found[who, rate].append(values)
    for (who, rate), values in found.items():
        table = np.array(values)
        error = np.nanstd(table, axis=0, ddof=1) / np.sqrt(len(table))
        cells = "  ".join(
            f"{m:.3f} ({e:.3f})" for m, e in zip(np.nanmean(table, axis=0), error, strict=True)
        )
        print(f"{rate:4.0%} wrong  {who:22} {cells}")


def _ours(X: np.ndarray, y: np.ndarray, rate: float, draw: int) -> dict[str, list[float]]:
    from coterie.active import ActiveSession
    from coterie.metrics import adjusted_rand_score

    found: dict[str, list[float]] = {"pairs": [], "sets of six, a third": []}
    session = ActiveSession(X, random_state=draw)
    for mark in MARKS:
        while session.n_asked < mark and (query := session.ask()) is not None:
            word = "same" if same(y, *query.rows, rate, draw) else "different"
            session.tell(query, word, despite_clash=True)
        found["pairs"].append(adjusted_rand_score(y, session.labels()))
    session = ActiveSession(X, random_state=draw)
    for mark in MARKS:
        while (
            session.n_asked < mark // 3 and (query := session.ask(kind="set", size=6)) is not None
        ):
            session.tell(query, _piles(y, query.rows, rate, draw), despite_clash=True)
        found["sets of six, a third"].append(adjusted_rand_score(y, session.labels()))
    return found


def _piles(y: np.ndarray, rows: tuple[int, ...], rate: float, draw: int) -> list[list[int]]:
    """Rows go one by one to the first pile whose first row they are called the same as."""
    piles: list[list[int]] = []
    for row in rows:
        pile = next((pile for pile in piles if same(y, row, pile[0], rate, draw)), None)
        if pile is None:
            piles.append([row])
        else:
            pile.append(row)
    return piles


def _theirs(path: Path, rate: float, draw: int) -> dict[str, list[float]]:
    from coterie import Constraints, PCKMeans
    from coterie.metrics import adjusted_rand_score

    done = path.with_name(f"{path.stem}@{rate}@{draw}.npz")
    if not done.exists():
        return {}
    X, y = (np.load(path)[key] for key in ("X", "y"))
    found = {}
    with np.load(done) as results:
        for key in results.files:
            who, mark = key.rsplit(" ", 1)
            if who == "COBRAS":
                labels = results[key]
            else:
                i, j, sign = results[key].T
                pairs = Constraints.from_arrays(len(y), np.column_stack([i, j]), sign)
                labels = PCKMeans(y.max() + 1, random_state=draw).fit(X, constraints=pairs).labels_
            found[who, int(mark)] = adjusted_rand_score(y, labels)
    return {
        who: [found.get((who, mark), np.nan) for mark in MARKS]
        for who in dict.fromkeys(w for w, _ in found)
    }


# -- in the peers' environment -------------------------------------------------------------
def ask(folder: Path, strategies: list[str]) -> None:
    """What the peers ask and find, for every draw, rate and set; what is there is left alone."""
    paths = [path for path in sorted(folder.glob("*.npz")) if "@" not in path.name]
    for draw, rate, path in product(range(DRAWS), RATES, paths):
        done = path.with_name(f"{path.stem}@{rate}@{draw}.npz")
        if done.exists():
            continue
        X, y = (np.load(path)[key] for key in ("X", "y"))
        np.random.seed(draw)  # noqa: NPY002 (both packages draw from the global generator)
        found = {**_cobras(X, y, rate, draw), **_scikit_query(X, y, rate, draw, strategies)}
        np.savez(done, **found)
        print(path.stem, rate, draw, sorted(found), flush=True)


def _cobras(X: np.ndarray, y: np.ndarray, rate: float, draw: int) -> dict[str, np.ndarray]:
    """The clusterings after so many answers."""
    setattr(np, "int", int)  # noqa: B010 (cobras-ts uses the old name)
    from cobras_ts.cobras_kmeans import COBRAS_kmeans

    class Querier:  # its own base class brings in a web server
        def query_points(self, idx1, idx2):
            return same(y, idx1, idx2, rate, draw)

        def continue_cluster_process(self):
            return True

        def update_clustering(self, clustering):
            pass

    clusterer = COBRAS_kmeans(X, Querier(), MARKS[-1])
    _, steps, *_ = clusterer.cluster()
    return {
        f"COBRAS {mark}": np.asarray(steps[min(mark, len(steps)) - 1], dtype=np.int64)
        for mark in MARKS
    }


def _scikit_query(
    X: np.ndarray, y: np.ndarray, rate: float, draw: int, strategies: list[str]
) -> dict[str, np.ndarray]:
    """The pairs that were asked about and what was said, (m, 3), for every budget anew."""
    from sklearn.cluster import KMeans
    from skquery import pairwise
    from skquery.exceptions import EmptyBudgetError

    found = {}
    k = int(y.max()) + 1
    start = KMeans(k, n_init=10, random_state=draw).fit_predict(X)  # NPU needs one
    for strategy in (getattr(pairwise, name) for name in strategies):
        for mark in MARKS:
            told: list[tuple[int, int, int]] = []

            class Oracle:
                queries, budget = 0, mark

                def query(self, i, j, told=told):
                    if len(told) >= self.budget:
                        raise EmptyBudgetError
                    self.queries += 1
                    sign = 1 if same(y, i, j, rate, draw) else -1
                    told.append((int(i), int(j), sign))
                    return sign > 0

            try:
                strategy().fit(X, Oracle(), partition=start, n_clusters=k)
            except Exception as error:  # it is left out of the table, not scored without pairs
                print(strategy.__name__, mark, type(error).__name__, error)
                continue
            unique = {(min(i, j), max(i, j)): sign for i, j, sign in told if i != j}
            rows = [(i, j, sign) for (i, j), sign in unique.items()]
            found[f"{strategy.__name__} {mark}"] = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return found


def main() -> None:
    """One step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("step", choices=("export", "ask", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--strategies", nargs="*", default=["AIPC", "FFQS", "MinMax", "NPU"])
    given = parser.parse_args()
    if given.step == "export":
        export(given.folder, given.sets, given.rows)
    elif given.step == "ask":
        ask(given.folder, given.strategies)
    else:
        score(given.folder)


if __name__ == "__main__":
    main()
