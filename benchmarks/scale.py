"""Rows that do not fit: what files, processes and a Dask cluster cost beside rows in memory.

    python benchmarks/scale.py make --rows 20_000_000     # Parquet files in a folder, once
    python benchmarks/scale.py files                      # an iteration from files / in memory
    python benchmarks/scale.py whole --rows 100_000_000   # a whole fit: seconds, reads, memory
    python benchmarks/scale.py dask                       # 1 and 2 workers, and our own threads
    python benchmarks/scale.py growth                     # exponents in rows and in pairs

Every line is a ratio of two times of one run, or a number of bytes. Data are made once in
`--folder` (default /tmp/coterie-scale).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

K, D, PAIRS = 20, 16, 100_000
GROUP = 1 << 20  # rows of a row group and of a file


def make(folder: Path, n: int, d: int = D) -> Path:
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

    return np.concatenate(
        [pq.read_table(path, columns=["y"])["y"].to_numpy() for path in sorted(place.glob("*.p*"))]
    )


def opened(place: Path) -> Any:
    from coterie.data import open_rows

    names = [name for name in _names(place) if name != "y"]
    return open_rows(place, columns=names)


def _names(place: Path) -> list[str]:
    import pyarrow.parquet as pq

    return list(pq.ParquetFile(next(iter(sorted(place.glob("*.parquet"))))).schema_arrow.names)


def model(rows: Any, iterations: int) -> Any:
    from coterie import PCKMeans

    start = rows.take(np.arange(0, rows.n, rows.n // K)[:K]) if hasattr(rows, "take") else rows
    return PCKMeans(K, init=start, max_iter=iterations, tol=0, random_state=0)


def per_iteration(rows: Any, X: Any, known: Any, *, short: int = 2, long: int = 6) -> float:
    """Seconds of one iteration: a long fit less a short one, so that the way in does not count."""
    times = []
    for iterations in (short, long):
        estimator = model(rows, iterations)
        begun = time.perf_counter()
        estimator.fit(X, constraints=known)
        times.append(time.perf_counter() - begun)
    return (times[1] - times[0]) / (long - short)


def files(place: Path, n: int) -> None:
    """An iteration from Parquet beside one in memory; bar 1.5, goal 1.2."""
    from coterie.constraints import sample_pairs

    rows = opened(place)
    known = sample_pairs(classes(place), PAIRS, random_state=0)
    X = rows.read(0, rows.n)
    model(rows, 1).fit(X[:100_000])  # compile
    in_memory = min(per_iteration(rows, X, known) for _ in range(2))
    del X
    from_files = min(per_iteration(rows, rows, known) for _ in range(2))
    print(
        f"{n:,} x {D}: in memory {in_memory:.3f} s, from Parquet {from_files:.3f} s an iteration: "
        f"{from_files / in_memory:.2f} x (bar 1.5, goal 1.2)"
    )


def whole(place: Path, n: int) -> None:
    """A whole fit with starts and labels written, in a process of its own; bar 2 GB, 2 x."""
    rows = opened(place)
    begun = time.perf_counter()
    for start in range(0, rows.n, GROUP):
        rows.read(start, min(start + GROUP, rows.n))
    reading = time.perf_counter() - begun
    done = subprocess.run(
        [sys.executable, __file__, "fit-alone", "--place", str(place)],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{n:,} x {D}: {found['seconds']:.0f} s, {found['seconds'] / (10 * reading):.2f} x reading "
        f"the files ten times by one thread ({10 * reading:.0f} s; bar 2, goal 1.3); peak memory "
        f"{found['bytes'] / 2**30:.2f} GB (bar 2)"
    )


def fit_alone(place: Path) -> None:
    from coterie import PCKMeans
    from coterie.constraints import sample_pairs
    from coterie.data import write_labels

    y = classes(place)
    known = sample_pairs(y, PAIRS, random_state=0)
    del y
    begun = time.perf_counter()
    fitted = PCKMeans(K, max_iter=10, tol=0, random_state=0).fit(opened(place), constraints=known)
    write_labels(place / "labels", fitted.labels_)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "bytes": peak}))


def dask(place: Path, n: int) -> None:
    """Two workers beside one (bar 1.7 x faster), and beside our threads (bar 1.25 x)."""
    from distributed import Client, LocalCluster

    import coterie
    from coterie.constraints import sample_pairs

    rows = opened(place)
    known = sample_pairs(classes(place), PAIRS, random_state=0)
    times = {}
    for workers in (1, 2):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
            coterie.engine(client),
        ):
            model(rows, 1).fit(rows, constraints=known)  # compile
            times[workers] = per_iteration(rows, rows, known)
    with coterie.data.use_threads(2):
        threads = per_iteration(rows, rows, known)
    print(
        f"{n:,} x {D}: one worker {times[1]:.2f} s, two {times[2]:.2f} s: "
        f"{times[1] / times[2]:.2f} x faster (bar 1.7, goal 1.9); our threads {threads:.2f} s: "
        f"{times[2] / threads:.2f} x (bar 1.25, goal 1.1)"
    )


def growth(folder: Path) -> None:
    """Exponents of the time of an iteration in rows and in pairs; bar 1.05."""
    from coterie.constraints import sample_pairs

    times = []
    sizes = (1_000_000, 10_000_000)
    for n in sizes:
        place = make(folder, n)
        rows, known = opened(place), sample_pairs(classes(place), 10_000, random_state=0)
        times.append(per_iteration(rows, rows, known))
    print(f"rows {sizes}: exponent {_slope(sizes, times):.2f} (bar 1.05)")
    place = make(folder, 10_000_000)
    rows, y = opened(place), classes(place)
    base, *rest = (
        per_iteration(rows, rows, sample_pairs(y, m, random_state=0) if m else None)
        for m in (0, 100_000, 1_000_000)
    )
    extra = [max(seconds - base, 1e-9) for seconds in rest]
    print(f"pairs 1e5, 1e6, beyond no pairs: exponent {_slope((1e5, 1e6), extra):.2f} (bar 1.05)")


def _slope(sizes: tuple[float, ...], times: list[float]) -> float:
    return float(np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["make", "files", "whole", "fit-alone", "dask", "growth"])
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=20_000_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/coterie-scale"))
    parser.add_argument("--place", type=Path)
    given = parser.parse_args()
    if given.what == "fit-alone":
        fit_alone(given.place)
    elif given.what == "growth":
        growth(given.folder)
    else:
        place = make(given.folder, given.rows)
        if given.what != "make":
            {"files": files, "whole": whole, "dask": dask}[given.what](place, given.rows)


if __name__ == "__main__":
    main()
