"""Records: F1 by the number of answers, and seconds and memory by the number of records.

    python benchmarks/records.py answers [--draws 3] [--sets febrl1,febrl3,households] [--data DIR]
    python benchmarks/records.py size [--sizes 25000,100000] [--splink VENV/bin/python]

`answers` prints pairwise F1 at 0, 25, 50, 100 and 200 answers, of random pairs among the ten
nearest neighbours by character 3-grams and of the tool's own questions, true and with 10 % wrong.
`households` is febrl3 without soc_sec_id where 1,200 people live by threes and share surname and
address; restaurants, products, publications and people are made up (`record_sets.py`), and so are
eateries0 to eateries3, titles, offers and members (`record_sets_graded.py`), and companies,
catalogue, contacts and references (`record_sets_other.py`), and software, drugs, works_cited and
clinic (`record_sets_fresh.py`). `size` makes people of
its own; each size runs in a process of its own. With --splink, a Python that has it, Splink 5 runs
on the same records and candidate pairs (`records_splink.py`): its seconds are without finding them.
1,000,000 records: `size --sizes 1000000 --splink VENV/bin/python`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from record_sets import SETS, people
from record_sets_classic import CLASSIC
from record_sets_fresh import FRESH
from record_sets_graded import GRADED
from record_sets_other import OTHER

DATA = Path("/work/shared/data/records")
MARKS = (25, 50, 100, 200)
SHARED = ("surname", "street_number", "address_1", "address_2", "suburb", "postcode", "state")


# -- sets ----------------------------------------------------------------------------------------
def read(path: Path, drop: tuple[str, ...] = ()) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Columns and truth of a Febrl set."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    names = [name for name in rows[0] if name not in ("rec_id", "entity", *drop)]
    columns = {name: np.array([row[name] for row in rows], dtype=object) for name in names}
    return columns, np.array([int(row["entity"]) for row in rows])


def households(folder: Path, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """1,200 people by threes; each record of a member gets the address of one of the first's."""
    columns, truth = read(folder / "febrl3.csv.gz", ("soc_sec_id",))
    rng = np.random.default_rng(seed)
    rows_of = {person: np.flatnonzero(truth == person) for person in np.unique(truth)}
    for first, *others in rng.permutation(np.unique(truth))[:1200].reshape(-1, 3).tolist():
        for row in [row for person in others for row in rows_of[person]]:
            source = rng.choice(rows_of[first])
            for name in SHARED:
                columns[name][row] = columns[name][source]
    return columns, truth


def load(name: str, folder: Path, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The set of this name; `seed` makes the households."""
    made = SETS | GRADED | CLASSIC | OTHER | FRESH
    if name in made:
        return made[name](seed)
    if name == "households":
        return households(folder, seed)
    return read(folder / f"{name}.csv.gz")


def f1(labels: np.ndarray, truth: np.ndarray) -> float:
    """Pairwise F1."""

    def count(keys: np.ndarray) -> int:
        sizes = np.unique(keys, return_counts=True)[1].astype(np.int64)
        return int((sizes * (sizes - 1) // 2).sum())

    _, truth = np.unique(truth, return_inverse=True)
    both = count(labels.astype(np.int64) * (truth.max() + 1) + truth)
    return 2 * both / (count(labels) + count(truth))


# -- answers -------------------------------------------------------------------------------------
def random_pairs(columns: dict[str, np.ndarray], count: int, seed: int) -> np.ndarray:
    """Random among the ten nearest neighbours by character 3-grams of all fields."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.neighbors import NearestNeighbors

    whole = [" ".join(filter(None, parts)) for parts in zip(*columns.values(), strict=True)]
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3)).fit_transform(whole)
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(whole), size=2 * count)
    near = NearestNeighbors(n_neighbors=11, metric="cosine").fit(grams)
    near = near.kneighbors(grams[rows], return_distance=False)
    others = [rng.choice(found[found != row][:10]) for row, found in zip(rows, near, strict=True)]
    pairs = np.unique(np.sort(np.column_stack([rows, others]), axis=1), axis=0)
    return rng.permutation(pairs)[:count]


def at_random(columns, truth, wrong: float, seed: int) -> list[float]:
    """F1 at 0 and at each mark, answers about random pairs."""
    from coterie import Constraints
    from coterie.records import pose_records, solve

    problem = pose_records(columns)
    pairs = random_pairs(columns, MARKS[-1], seed)
    kind = np.where(truth[pairs[:, 0]] == truth[pairs[:, 1]], 1, -1)
    flipped = np.random.default_rng(seed).random(len(kind)) < wrong
    kind = np.where(flipped, -kind, kind)
    found = []
    for count in (0, *MARKS):
        given = Constraints.from_arrays(truth.size, pairs[:count], kind[:count])
        found.append(f1(solve(problem, given).labels, truth))
    return found


def own_questions(columns, truth, wrong: float, seed: int, batch: int) -> list[float]:
    """F1 at 0 and at each mark, answers to the strategy's questions."""
    from coterie import ActiveSession
    from coterie.active import RecordQuestions

    rng = np.random.default_rng(seed)
    rows = np.arange(truth.size, dtype=float)[:, None]
    how = RecordQuestions(columns, recall=1.0)
    session = ActiveSession(rows, strategy=how, random_state=seed)
    found = [f1(session.labels(), truth)]
    for mark in MARKS:
        while session.n_asked < mark and (
            queries := session.ask(min(batch, mark - session.n_asked))
        ):
            for query in queries:
                i, j = query.rows
                same = (truth[i] == truth[j]) != (rng.random() < wrong)
                session.tell(query, "same" if same else "different", despite_clash=True)
        found.append(f1(session.labels(), truth))
    return found


def answers(arguments: argparse.Namespace) -> None:
    """The table."""
    print("set         pairs    wrong  F1 at " + " ".join(f"{mark:>6}" for mark in (0, *MARKS)))
    for name in arguments.sets.split(","):
        for way in ("random", "own"):
            for wrong in (0.0, 0.1):
                curves = []
                for draw in range(arguments.draws):
                    columns, truth = load(name, arguments.data, draw)
                    if way == "random":
                        curves.append(at_random(columns, truth, wrong, draw))
                    else:
                        curves.append(own_questions(columns, truth, wrong, draw, arguments.batch))
                mean = " ".join(f"{value:6.3f}" for value in np.mean(curves, axis=0))
                least = " ".join(f"{value:6.3f}" for value in np.min(curves, axis=0))
                print(f"{name:<11} {way:<8} {wrong:5.0%}  mean  {mean}   least {least}", flush=True)


# -- size ----------------------------------------------------------------------------------------
def one_size(n: int) -> None:
    """Fit n made records; one line."""
    from coterie import Dossier

    Dossier().fit(people(500)[0])  # compiled
    columns, truth = people(n)
    begun, used = time.perf_counter(), time.process_time()
    model = Dossier().fit(columns)
    elapsed, used = time.perf_counter() - begun, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{truth.size:>9} records  {elapsed:7.1f} s  {used:7.1f} s CPU  {memory:5.2f} GB  "
        f"{len(model.pairs_) / truth.size:5.1f} pairs a record  F1 {f1(model.labels_, truth):.4f}",
        flush=True,
    )


def size(arguments: argparse.Namespace) -> None:
    """Each size in a process of its own, so that memory is its own."""
    for n in arguments.sizes.split(","):
        subprocess.run([sys.executable, __file__, "one", n], check=True)
        if arguments.splink:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "people.csv"
                subprocess.run([sys.executable, __file__, "write", n, str(path)], check=True)
                other = Path(__file__).with_name("records_splink.py")
                subprocess.run([arguments.splink, str(other), str(path)], check=True)


def write(n: int, path: Path) -> None:
    """Records, the truth, and the candidate pairs each record is in, for Splink."""
    from coterie.records import read_fields
    from coterie.records.candidates import find_candidates

    columns, truth = people(n)
    pairs = find_candidates(read_fields(columns))
    ends = pairs.ravel()
    order = np.argsort(ends, kind="stable")
    numbers = np.repeat(np.arange(len(pairs)), 2)[order].astype(str)
    of_row = np.split(numbers, np.cumsum(np.bincount(ends, minlength=truth.size))[:-1])
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["unique_id", "entity", "cand", *columns])
        for row, values in enumerate(zip(*columns.values(), strict=True)):
            writer.writerow([row, truth[row], ";".join(of_row[row]), *values])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    of_answers = commands.add_parser("answers")
    of_answers.add_argument("--draws", type=int, default=3)
    of_answers.add_argument("--batch", type=int, default=5, help="questions between two fits")
    of_answers.add_argument("--sets", default="febrl1,febrl3,households")
    of_answers.add_argument("--data", type=Path, default=DATA)
    of_answers.set_defaults(run=answers)
    of_size = commands.add_parser("size")
    of_size.add_argument("--sizes", default="25000,100000")
    of_size.add_argument("--splink", help="a Python that has Splink 5")
    of_size.set_defaults(run=size)
    written = commands.add_parser("write")
    written.add_argument("n", type=int)
    written.add_argument("path", type=Path)
    written.set_defaults(run=lambda given: write(given.n, given.path))
    one = commands.add_parser("one")
    one.add_argument("n", type=int)
    one.set_defaults(run=lambda given: one_size(given.n))
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
