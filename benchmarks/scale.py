"""Rows that do not fit: what files, processes and a Dask cluster cost beside rows in memory.

Each case is one command and prints one line: ratios of times of one run, or bytes. Data are made
once, by the case that needs them first, in `--folder` (default /tmp/scale-data). Run them on a
machine that has nothing else to do; disk and minutes are for the sizes below on two cores.

    python benchmarks/scale.py files      # an iteration from Parquet / in memory  2.7 GB,  2 min
    python benchmarks/scale.py whole      # 10^8 rows, starts and labels: memory    7 GB,  25 min
    python benchmarks/scale.py dask       # 2 workers / 1, and / our threads      2.7 GB,   3 min
    python benchmarks/scale.py peers      # dask-ml and Spark, no pairs           1.4 GB,  10 min
    python benchmarks/scale.py mosaic     # Mosaic 10^7 x 32: memory, / KMeans    1.4 GB,  15 min
    python benchmarks/scale.py rows       # growth 10^6 .. 10^8 rows                8 GB,  15 min
    python benchmarks/scale.py pairs      # growth 10^4 .. 10^6 pairs             0.1 GB,   5 min

Where other programs run beside it, `--clock cpu` takes processor time (of all threads) in place of
seconds; it says nothing of how well threads and workers share the work, so not for `dask`.

`--rows`, `--columns` and `--pairs` set other sizes, to see that a case works; for `rows` that is
the largest size. `peers` runs the other libraries by `--peer-python`, of an environment that is not
Coterie's (dask-ml does not go with scikit-learn 1.6):

    python -m venv /tmp/peers
    /tmp/peers/bin/pip install pyspark dask-ml 'scikit-learn<1.6' 'dask[dataframe,distributed]' \\
        pyarrow setuptools
    python benchmarks/scale.py peers --peer-python /tmp/peers/bin/python

The memory of a driver at 10^9 rows is reckoned in docs/larger-than-memory.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

K, PAIRS = 20, 100_000
GROUP = 1 << 20  # rows of a row group and of a file
SHORT, LONG = 2, 6  # iterations of fits that are timed


class Task(NamedTuple):
    """What a case is run on."""

    folder: Path
    n: int
    d: int
    pairs: int
    peer: Path | None

    @property
    def size(self) -> str:
        return f"{self.n:,} x {self.d}"

    def place(self) -> Path:
        return make(self.folder, self.n, self.d)


# -- data --------------------------------------------------------------------------------------
def make(folder: Path, n: int, d: int) -> Path:
    """Parquet files of n rows in K blobs, with their classes in a column of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / f"rows-{n}-{d}"
    if (place / "done").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    centers = 1.5 * np.random.default_rng(0).standard_normal((K, d), dtype=np.float32)
    for number, start in enumerate(range(0, n, GROUP)):
        rng = np.random.default_rng(number)
        size = min(GROUP, n - start)
        y = rng.integers(K, size=size)
        X = rng.standard_normal((size, d), dtype=np.float32) + centers[y]
        columns: dict[str, Any] = {f"f{m}": X[:, m] for m in range(d)}
        table = pa.table({**columns, "y": y.astype(np.int32)})
        # Random floats do not pack: stored plainly they are read as fast as they can be.
        pq.write_table(
            table, place / f"{number:05d}.parquet", compression="none", use_dictionary=["y"]
        )
    (place / "done").touch()
    return place


def classes(place: Path) -> np.ndarray:
    import pyarrow.parquet as pq

    files = sorted(place.glob("*.parquet"))
    return np.concatenate([pq.read_table(path, columns=["y"])["y"].to_numpy() for path in files])


def opened(place: Path) -> Any:
    from coterie.data import open_rows

    d = int(place.name.rsplit("-", 1)[1])
    return open_rows(sorted(place.glob("*.parquet")), columns=[f"f{m}" for m in range(d)])


def known_pairs(place: Path, m: int) -> Any:
    from coterie.constraints import sample_pairs

    return sample_pairs(classes(place), m, random_state=0) if m else None


# -- measures ----------------------------------------------------------------------------------
def model(rows: Any, iterations: int) -> Any:
    """PCKMeans from K of the rows, for so many iterations."""
    from coterie import PCKMeans

    start = rows.take(np.arange(0, rows.n, rows.n // K)[:K])
    return PCKMeans(K, init=start, max_iter=iterations, tol=0, random_state=0)


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
CLOCK = "wall"


def seconds_of(work: Callable[[], Any]) -> float:
    clock = CLOCKS[CLOCK]
    begun = clock()
    work()
    return clock() - begun


def per_iteration(rows: Any, X: Any, known: Any, average: Callable[..., Any] = np.median) -> float:
    """Seconds of one iteration of PCKMeans: the average of those of one fit but for the first.

    So the way in and out does not count, and iterations are few enough for large sizes.
    """
    from coterie.progress import watching

    clock = CLOCKS[CLOCK]
    ends: list[float] = []
    with watching(lambda step: ends.append(clock())):
        model(rows, LONG).fit(X, constraints=known)
    return float(average(np.diff(ends)))


def difference(seconds: Callable[[int], float], runs: int = 2) -> float:
    """Seconds of one iteration where nobody tells of them: long fits less short ones."""
    best = {k: min(seconds(k) for _ in range(runs)) for k in (SHORT, LONG)}
    return (best[LONG] - best[SHORT]) / (LONG - SHORT)


def peak_bytes() -> int:
    """Most memory that this program has held.

    Not by `getrusage`, which begins with what the program that started this one held.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024


def alone(python: str, *arguments: Any) -> dict[str, float]:
    """What another process says on its last line: memory and caches of this one do not count."""
    done = subprocess.run(
        [python, __file__, *map(str, arguments), "--clock", CLOCK],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def decoding_always() -> Iterator[None]:
    """Parquet as it is read where rows are more than an eighth of the memory."""
    from coterie.data.parquet import decoded_groups

    most, decoded_groups.most_bytes = decoded_groups.most_bytes, 0
    try:
        yield
    finally:
        decoded_groups.most_bytes = most


def slope(sizes: list[int], times: list[float]) -> float:
    return float(np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0]))


# -- cases -------------------------------------------------------------------------------------
def files(task: Task) -> None:
    from coterie.data import unpacked

    place = task.place()
    rows, known = opened(place), known_pairs(place, task.pairs)
    X = rows.read(0, rows.n)
    model(rows, 1).fit(X, constraints=known)  # compile
    in_memory = per_iteration(rows, X, known)
    del X
    from_files = per_iteration(rows, rows, known)
    with decoding_always():
        read_on = per_iteration(rows, rows, known)
    kept: list[Any] = []
    once = seconds_of(lambda: kept.append(unpacked(rows, task.folder)))
    (plain,) = kept
    from_plain = per_iteration(plain, plain, known)
    print(
        f"files, {task.size}: in memory {in_memory:.3f} s, from Parquet {from_files:.3f} s an "
        f"iteration: {from_files / in_memory:.2f} x (bar 1.5, goal 1.2); decoded in every pass, as "
        f"more rows are: {read_on:.3f} s, {read_on / in_memory:.2f} x; unpacked (once, {once:.1f} "
        f"s): {from_plain:.3f} s, {from_plain / in_memory:.2f} x"
    )


def whole(task: Task) -> None:
    place = task.place()
    rows = opened(place)
    known_pairs(place, task.pairs).save(place / "pairs.csv")
    read_all(rows)  # the page cache
    reading = seconds_of(lambda: read_all(rows))
    found = alone(sys.executable, "fit-alone", "--place", place)
    seconds, memory = found["seconds"], found["bytes"] / 2**30
    print(
        f"whole fit, {task.size}, K = {K}, {task.pairs:,} pairs, 10 iterations: {seconds:.0f} s, "
        f"{seconds / (10 * reading):.2f} x reading the files ten times by one thread "
        f"({10 * reading:.0f} s; bar 2, goal 1.3); peak memory {memory:.2f} GB (bar 2)"
    )


def read_all(rows: Any) -> None:
    """By one thread, in pieces as large as a block."""
    step = (1 << 25) // (rows.d * rows.dtype.itemsize)
    for start in range(0, rows.n, step):
        rows.read(start, min(start + step, rows.n))


def fit_alone(place: Path) -> None:
    from coterie import Constraints, PCKMeans
    from coterie.data import write_labels

    known = Constraints.load(place / "pairs.csv")

    def work() -> None:
        found = PCKMeans(K, max_iter=10, tol=0, random_state=0)
        found.fit(opened(place), constraints=known)
        write_labels(place / "labels", found.labels_)

    print(json.dumps({"seconds": seconds_of(work), "bytes": peak_bytes()}))


def dask(task: Task) -> None:
    from distributed import Client, LocalCluster

    import coterie

    place = task.place()
    rows, known = opened(place), known_pairs(place, task.pairs)
    times = {}
    for workers in (1, 2):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit="4GB"
            ) as cluster,
            Client(cluster) as client,
            coterie.engine(client),
        ):
            model(rows, 1).fit(rows.cut(0, min(rows.n, GROUP)))  # compile
            times[workers] = per_iteration(rows, rows, known)
    with coterie.data.use_threads(2), decoding_always():  # as workers of 4 GB do
        threads = per_iteration(rows, rows, known)
    print(
        f"dask, {task.size}: one worker {times[1]:.2f} s, two {times[2]:.2f} s an iteration: "
        f"{times[1] / times[2]:.2f} x faster (bar 1.7, goal 1.9); our threads {threads:.2f} s: "
        f"{times[2] / threads:.2f} x (bar 1.25, goal 1.1)"
    )


def peers(task: Task) -> None:
    from coterie.data import use_threads

    place = task.place()
    rows = opened(place)
    with use_threads(2):
        model(rows, 1).fit(rows)  # compile
        ours = per_iteration(rows, rows, None)
        X = rows.read(0, rows.n)
        held = per_iteration(rows, X, None)
        del X
    said = [
        f"peers, {task.size}, no pairs: ours {ours:.3f} s an iteration from Parquet, {held:.3f} s "
        "in memory; theirs are in memory"
    ]
    for name, case in (("dask-ml", "dask-ml-alone"), ("Spark MLlib", "spark-alone")):
        python = sys.executable if task.peer is None else str(task.peer)
        found = alone(python, case, "--place", place)
        if found:
            theirs = found["seconds"]
            said.append(
                f"{name} {theirs:.3f} s, {theirs / ours:.1f} x ours from Parquet and "
                f"{theirs / held:.1f} x ours in memory (bar 1, goal 3)"
            )
        else:
            said.append(f"{name} did not run (see above; --peer-python)")
    print("; ".join(said))


def dask_ml_alone(place: Path) -> None:
    """dask-ml's KMeans on the chunks in two workers' memory; the classes are left out."""
    from dask import dataframe
    from dask_ml.cluster import KMeans
    from distributed import Client

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        frame = dataframe.read_parquet(sorted(map(str, place.glob("*.parquet"))))
        X = frame.drop(columns="y").to_dask_array(lengths=True)
        X = client.persist(X)
        start = np.asarray(X[:: max(1, X.shape[0] // K)][:K])

        def seconds(iterations: int) -> float:
            found = KMeans(K, init=start, max_iter=iterations, tol=0.0)
            return seconds_of(lambda: found.fit(X))

        seconds(1)
        print(json.dumps({"seconds": difference(seconds)}))


def spark_alone(place: Path) -> None:
    """Spark MLlib's KMeans, local[2], on rows that it holds in memory."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "12g")
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    frame = spark.read.parquet(*sorted(map(str, place.glob("*.parquet"))))
    names = [name for name in frame.columns if name != "y"]
    rows = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
    rows = rows.select("features").cache()
    rows.count()

    def seconds(iterations: int) -> float:
        fit = KMeans(k=K, initMode="random", maxIter=iterations, tol=0.0, seed=0).fit
        return seconds_of(lambda: fit(rows))

    seconds(1)
    found = difference(seconds)
    spark.stop()
    print(json.dumps({"seconds": found}))


def mosaic(task: Task) -> None:
    place = task.place()
    known_pairs(place, task.pairs).save(place / "pairs.csv")
    kmeans = alone(sys.executable, "kmeans-alone", "--place", place)
    found = alone(sys.executable, "mosaic-alone", "--place", place)
    print(
        f"mosaic, {task.size}, K = {K}, {task.pairs:,} pairs: {found['seconds']:.0f} s, "
        f"{found['seconds'] / kmeans['seconds']:.1f} x one KMeans fit ({kmeans['seconds']:.0f} s; "
        f"bar 15, goal 5); peak memory beyond the rows {found['bytes'] / 2**30:.2f} GB (bar 1.5)"
    )


def kmeans_alone(place: Path) -> None:
    from sklearn.cluster import KMeans

    rows = opened(place)
    X = rows.read(0, rows.n)
    print(json.dumps({"seconds": seconds_of(lambda: KMeans(K, random_state=0).fit(X))}))


def mosaic_alone(place: Path) -> None:
    """Of rows in memory, or from files where Mosaic reads those."""
    from coterie import Constraints, Mosaic
    from coterie.estimators import reads_stored_rows

    rows, known = opened(place), Constraints.load(place / "pairs.csv")
    estimator = Mosaic(K, random_state=0)
    stored = reads_stored_rows(estimator)
    X = rows if stored else rows.read(0, rows.n)
    few = rows.read(0, min(rows.n, 5_000))
    Mosaic(K, random_state=0).fit(few)  # compile
    begun = peak_bytes() if stored else X.nbytes
    with decoding_always():  # rows that are kept would count
        seconds = seconds_of(lambda: estimator.fit(X, constraints=known))
    print(json.dumps({"seconds": seconds, "bytes": peak_bytes() - begun}))


def rows(task: Task) -> None:
    sizes = [size for size in (10**5, 10**6, 10**7, 10**8) if size <= task.n][-3:]
    times = []
    for n in sizes:
        place = make(task.folder, n, task.d)
        source, known = opened(place), known_pairs(place, 10_000)
        with decoding_always():  # else the smaller ones would be kept
            if not times:
                model(source, 1).fit(source, constraints=known)  # compile
            read_all(source)  # the page cache
            times.append(per_iteration(source, source, known))
    shown = ", ".join(f"{n:,}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
    print(f"growth in rows ({shown}): exponent {slope(sizes, times):.2f} (bar 1.05, goal 1)")


def pairs(task: Task) -> None:
    place = task.place()
    source = opened(place)
    X = source.read(0, source.n)
    sizes = [10**4, 10**5, 10**6]
    model(source, 1).fit(X, constraints=known_pairs(place, sizes[0]))  # compile
    # Fewer rows move from iteration to iteration, at another pace for each size: all of them count.
    times = [per_iteration(source, X, known_pairs(place, m), np.mean) for m in sizes]
    base = per_iteration(source, X, None, np.mean)
    extra = [max(seconds - base, 1e-9) for seconds in times[1:]]
    shown = ", ".join(f"{m:,}: {t:.3f} s" for m, t in zip(sizes, times, strict=True))
    print(
        f"growth in pairs, {task.size} (none: {base:.3f} s, {shown}): exponent "
        f"{slope(sizes, times):.2f} (bar 1.05, goal 1); beyond no pairs, 1e5 to 1e6: "
        f"{slope(sizes[1:], extra):.2f}"
    )


class Case(NamedTuple):
    """A case with its rows and columns."""

    run: Callable[[Task], None]
    n: int
    d: int


CASES = {
    "files": Case(files, 20_000_000, 16),
    "whole": Case(whole, 100_000_000, 16),
    "dask": Case(dask, 20_000_000, 32),
    "peers": Case(peers, 20_000_000, 16),
    "mosaic": Case(mosaic, 10_000_000, 32),
    "rows": Case(rows, 100_000_000, 16),
    "pairs": Case(pairs, 1_000_000, 16),
}
# Run by cases, in processes of their own.
ALONE = {
    "fit-alone": fit_alone,
    "dask-ml-alone": dask_ml_alone,
    "spark-alone": spark_alone,
    "kmeans-alone": kmeans_alone,
    "mosaic-alone": mosaic_alone,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whole_number = {"type": lambda text: int(text.replace("_", "")), "default": None}
    parser.add_argument("case", choices=[*CASES, *ALONE], metavar="case")
    parser.add_argument("--rows", **whole_number)
    parser.add_argument("--columns", **whole_number)
    parser.add_argument("--pairs", **whole_number)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/scale-data"))
    parser.add_argument("--peer-python", type=Path)
    parser.add_argument("--place", type=Path)
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: of this process, on a loaded machine"
    )
    given = parser.parse_args()
    globals()["CLOCK"] = given.clock
    if given.case in ALONE:
        ALONE[given.case](given.place)
        return
    case = CASES[given.case]
    size = (given.rows or case.n, given.columns or case.d, given.pairs or PAIRS)
    case.run(Task(given.folder, *size, given.peer_python))


if __name__ == "__main__":
    main()
