"""Files that need not fit in memory: the result of the same rows read whole."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from terminal_cli import Terminal, listing

from coterie.cli.exits import Exit
from coterie.cluster import PCKMeans
from coterie.estimators import ESTIMATORS, estimator_class, reads_stored_rows

N = 400
STREAMING = [name for name in ESTIMATORS if reads_stored_rows(estimator_class(name)())]
FIT = ("--id", "key", "--scale", "--impute", "-k", 3, "--seed", 0)
PAIRS = ("--constraints", "pairs.csv")


def mixed(n=N):
    """Rows of three classes: numbers (one missing), towns (one missing), and ids of text."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    height = 4.0 * y + rng.normal(size=n)
    height[7] = np.nan
    town = np.array(["Ulm", "Rom", "Bern"], dtype=object)[y]
    town[11] = None
    return y, pa.table(
        {
            "key": [f"p{row}" for row in range(n)],
            "height": height,
            "age": rng.integers(1, 90, n),
            "town": town.tolist(),
        }
    )


@pytest.fixture
def parts(folder):
    """whole.parquet; the same rows in big/*.parquet, cut in another way; pairs.csv by key."""
    y, table = mixed()
    pq.write_table(table, "whole.parquet")
    (folder / "big").mkdir()
    for number, (start, stop) in enumerate([(0, 130), (130, 130), (130, 131), (131, N)]):
        part = table.slice(start, stop - start)
        pq.write_table(part, f"big/{number}.parquet", row_group_size=77)
    rng = np.random.default_rng(1)
    i, j = rng.choice(N, size=(2, 60), replace=True)
    rows = [
        f"p{a},p{b},{'must' if y[a] == y[b] else 'cannot'}"
        for a, b in zip(i, j, strict=True)
        if a != b
    ]
    (folder / "pairs.csv").write_text("\n".join(["a,b,kind", *rows]) + "\n")
    return folder


def labels(path):
    return pq.read_table(path)["cluster"].to_numpy()


@pytest.mark.parametrize("method", STREAMING)
def test_parts_have_the_labels_of_the_whole(parts, run, method):
    k = FIT if method not in ("tvclust",) else [option for option in FIT if option not in ("-k", 3)]
    pairs = (*PAIRS, "--hard") if method == "copkmeans" else PAIRS
    in_memory = run("fit", "whole.parquet", *pairs, *k, "--method", method, "-o", "w.parquet")
    assert in_memory.exit_code == 0, in_memory.output
    assert "stretch" not in in_memory.stderr
    streamed = run("fit", "big", *pairs, *k, "--method", method, "-o", "b.parquet")
    assert streamed.exit_code == 0, streamed.output
    assert "Note: rows are read a stretch at a time (big is a folder)" in streamed.stderr
    np.testing.assert_array_equal(labels("w.parquet"), labels("b.parquet"))
    assert in_memory.stdout.replace("w.parquet", "b.parquet") == streamed.stdout
    for note in ("height: 1 missing values filled by the mean", "town: 1 missing filled by"):
        assert note in in_memory.stderr
        assert note in streamed.stderr


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "jsonl", "parquet", "feather", "arrow", "npy", "-"]
)
@pytest.mark.parametrize("bare", [[], ["--only-labels"]])
def test_every_output_is_what_the_whole_gives(parts, run, ending, bare):
    outputs = []
    for data in ("whole.parquet", "big/*.parquet"):
        target = "-" if ending == "-" else f"{data[:3]}.{ending}"
        done = run("fit", data, *PAIRS, *FIT, "--method", "pckmeans", "-o", target, *bare)
        assert done.exit_code == 0, done.output
        outputs.append(done.stdout.encode() if ending == "-" else content(target))
    assert outputs[0] == outputs[1]
    if bare and ending == "parquet":
        assert outputs[0][0] == ["key", "cluster"]


def content(path):
    """Bytes, or the names, types and values of a table (as texts: a NaN is like another)."""
    if path.endswith((".parquet", ".feather", ".arrow")):
        parquet = path.endswith(".parquet")
        table = pq.read_table(path) if parquet else pa.ipc.open_file(path).read_all()
        return table.column_names, table.schema.types, str(table.to_pydict())
    with open(path, "rb") as file:
        return file.read()


def test_rows_without_ids_are_numbered_through(parts, run):
    options = ("--features", "age", "-k", 2, "--seed", 0, "--method", "pckmeans", "--only-labels")
    assert run("fit", "big", *options, "-o", "b.csv").exit_code == 0
    lines = (parts / "b.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["row", *map(str, range(N))]


def test_several_files_are_taken_in_the_order_given(parts, run):
    options = (*FIT, "--method", "pckmeans", "--only-labels", "-o", "b.csv")
    done = run("fit", "big/3.parquet", "big/0.parquet", *options)
    assert "(2 files)" in done.stderr
    keys = [line.split(",")[0] for line in (parts / "b.csv").read_text().splitlines()[1:]]
    assert keys == [f"p{row}" for row in [*range(131, N), *range(130)]]


def test_processes_give_the_same_labels(parts, run, monkeypatch):
    run("fit", "whole.parquet", *PAIRS, *FIT, "--method", "pckmeans", "-o", "w.parquet")
    done = run(
        "fit", "whole.parquet", *PAIRS, *FIT, "--method", "pckmeans", "--workers", 2,
        "-o", "b.parquet", "--save", "m",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "(by 2 processes)" in done.stderr
    np.testing.assert_array_equal(labels("w.parquet"), labels("b.parquet"))
    made = json.loads((parts / "m" / "made.json").read_text())
    assert (made["data"], made["n_rows"], made["n_features"]) == ("whole.parquet", N, 5)


def test_a_cluster_gives_the_same_labels(parts, run):
    distributed = pytest.importorskip("distributed")
    run("fit", "whole.parquet", *PAIRS, *FIT, "--method", "pckmeans", "-o", "w.parquet")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        done = run(
            "fit", "big", *PAIRS, *FIT, "--method", "pckmeans", "--engine", address,
            "-o", "b.parquet",
        )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"(by {address})" in done.stderr
    np.testing.assert_array_equal(labels("w.parquet"), labels("b.parquet"))


def test_numbers_put_aside_give_the_same_labels_and_are_gone_after(parts, run):
    (parts / "aside").mkdir()
    fit = ("fit", "big", *PAIRS, *FIT, "--method", "ppc")
    assert run(*fit, "-o", "made-anew.parquet").exit_code == 0
    done = run(*fit, "--scratch", "aside", "-o", "put-aside.parquet")
    assert done.exit_code == 0, done.output
    assert content("made-anew.parquet") == content("put-aside.parquet")
    gc.collect()
    assert not list((parts / "aside").iterdir())


def test_predict_streams_with_the_labels_and_notes_of_the_whole(parts, run):
    run("fit", "big/0.parquet", *FIT, "--method", "pckmeans", "--save", "m")
    _, table = mixed()
    town = [
        "Wien" if row in (3, 390) else name for row, name in enumerate(table["town"].to_pylist())
    ]
    table = table.set_column(3, "town", pa.array(town))
    pq.write_table(table, "whole.parquet")
    for number, start in enumerate(range(0, N, 150)):
        pq.write_table(table.slice(start, 150), f"new-{number}.parquet", row_group_size=40)
    whole = run("predict", "m", "whole.parquet", "-o", "w.csv")
    streamed = run("predict", "m", "new-*.parquet", "-o", "b.csv")
    assert (whole.exit_code, streamed.exit_code) == (0, 0), streamed.output
    assert (parts / "w.csv").read_bytes() == (parts / "b.csv").read_bytes()
    assert "2 values not seen in fitting" in whole.stderr
    assert "Note: rows are read a stretch at a time (3 files)" in streamed.stderr
    assert [line for line in streamed.stderr.splitlines() if "stretch" not in line] == (
        whole.stderr.splitlines()
    )
    as_json = [
        json.loads(run("predict", "m", data, "--json", "--quiet").stdout)
        for data in ("whole.parquet", "new-*.parquet")
    ]
    assert as_json[0]["labels"] == as_json[1]["labels"]


def test_predict_tells_how_far_it_is_by_row_groups(parts, run, monkeypatch):
    run("fit", "big", *FIT, "--method", "pckmeans", "--save", "m")
    told = []
    bar = SimpleNamespace(count=told.append)
    monkeypatch.setattr("coterie.cli.watch.shown", lambda talk, what: nullcontext(bar))
    assert run("predict", "m", "big", "-o", "b.csv").exit_code == 0
    groups = sum(pq.ParquetFile(path).num_row_groups for path in sorted((parts / "big").iterdir()))
    assert [blocks.done for blocks in told] == list(range(1, len(told) + 1))
    assert {blocks.total for blocks in told} == {groups}
    assert groups - 1 <= len(told) <= groups  # one may be empty


def test_predict_streams_methods_that_fit_in_memory_only(parts, run):
    fit = ("fit", "whole.parquet", *PAIRS, *FIT, "--method", "graphpropagation", "--save", "m")
    assert run(*fit).exit_code == 0
    assert run("predict", "m", "whole.parquet", "-o", "w.csv").exit_code == 0
    assert run("predict", "m", "big", "-o", "b.csv").exit_code == 0
    whole, parted = (
        [line.split(",")[4] for line in (parts / name).read_text().splitlines()]
        for name in ("w.csv", "b.csv")
    )
    assert whole == parted


@pytest.mark.parametrize("why", [["big"], ["whole.parquet", "--workers", "2"]])
def test_a_method_that_needs_memory_is_refused_with_what_to_use(parts, run, why):
    before = listing(".")
    done = run("fit", *why, *FIT, "--method", "completelink", "-o", "b.csv")
    assert done.exit_code == Exit.BAD_INPUT
    assert "--method completelink needs all rows in memory" in done.stderr
    assert "Use --method mosaic, pckmeans, mpckmeans" in done.stderr
    assert listing(".") == before


def test_a_file_much_beside_the_memory_is_read_in_stretches_where_the_method_can(
    parts, run, monkeypatch
):
    monkeypatch.setattr("coterie.memory.memory_bytes", lambda: 4 * N * 4 * 8)
    done = run("fit", "whole.parquet", *FIT, "--method", "pckmeans")
    assert "stretch" not in done.stderr
    monkeypatch.setattr("coterie.memory.memory_bytes", lambda: 4 * N * 4 * 8 - 1)
    done = run("fit", "whole.parquet", *FIT, "--method", "pckmeans")
    assert done.exit_code == 0
    assert "rows are read a stretch at a time (about 0.0 GB of 0.0 GB memory)" in done.stderr
    done = run("fit", "whole.parquet", *FIT, "--method", "completelink")
    assert done.exit_code == 0
    assert "stretch" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere/*.parquet"], "no file matches 'nowhere/*.parquet'"),
        (["a.csv", "b.csv", "p0.csv"], "a.csv is not a .parquet file, and only such are read"),
        (["a.csv", "--workers", "2"], "give it alone, without --workers"),
        (["empty"], "no .parquet file is in the folder empty"),
        (["big", "--workers", "2", "--engine", "dask://h:1"], "--workers or --engine, not both"),
        (["big", "--engine", "h:1"], "'h:1' is no address; give one like dask://HOST:PORT"),
        (["big", "--drop", "age", "--id", "keys"], "has no column 'keys'"),
        (["big", "--features", "cluster"], "has no column 'cluster'"),
        (["big", "--constraints", "lost.csv"], "no row of the data has the id 'q9' (2 such pairs)"),
        (["twice", "--constraints", "p0.csv"], "the id 'p0' is used twice (rows 0 and 400)"),
        (["other"], "differ in the columns ['age', 'key', 'town', 'x']"),
        (["kinds"], "differ in the type of a column"),
        (["big", "-k", "500"], "there are only 400 rows"),
        (["big", "--scratch", ".", "--columns", "town:words"], "--scratch is for numbers"),
        (["whole.parquet", "--scratch", "."], "--scratch is for rows that are read a stretch at"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(parts, run, arguments, words):
    (parts / "a.csv").write_text("x\n1\n2\n")
    (parts / "b.csv").write_text("x\n1\n2\n")
    (parts / "lost.csv").write_text("a,b,kind\nq9,p1,must\np1,p2,must\nq9,p3,must\n")
    (parts / "p0.csv").write_text("a,b,kind\np0,p1,must\n")
    for name in ("empty", "twice", "other", "kinds"):
        (parts / name).mkdir()
    _, table = mixed()
    for name in ("twice", "other", "kinds"):
        pq.write_table(table, f"{name}/1.parquet")
    pq.write_table(table, "twice/2.parquet")
    pq.write_table(pa.table({"x": [1.0], "height": [1.0]}), "other/2.parquet")
    pq.write_table(table.set_column(1, "height", pa.array(["tall"] * N)), "kinds/2.parquet")
    done = run("fit", *FIT, "--method", "pckmeans", "-o", "out.csv", *arguments)
    assert done.exit_code == Exit.BAD_INPUT, done.output
    assert words in done.stderr.replace("\n", " ")
    assert not (parts / "out.csv").exists()


def test_no_scheduler_is_said_within_seconds(parts, run, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("coterie.data.dask_engine._ANSWER", 0.5)
    done = run("fit", "big", *FIT, "--method", "pckmeans", "--engine", "dask://127.0.0.1:1")
    assert done.exit_code == Exit.BAD_INPUT
    assert "no Dask scheduler answers at dask://127.0.0.1:1" in done.stderr


def test_hard_pairs_that_cannot_be_kept_are_named_by_id(parts, run):
    (parts / "hard.csv").write_text("a,b,kind\np3,p399,must\np3,p200,must\np200,p399,cannot\n")
    done = run(
        "fit", "big", "--constraints", "hard.csv", "--hard", *FIT, "--method", "copkmeans"
    )  # fmt: skip
    assert done.exit_code == Exit.UNSATISFIABLE
    for pair in ("p3 = p399", "p3 = p200", "p200 ≠ p399"):
        assert pair in done.stderr


def test_numbers_of_two_widths_are_read_as_the_wider(folder, run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    (folder / "two").mkdir()
    pq.write_table(pa.table({"a": X[:20, 0].astype("f4"), "b": X[:20, 1]}), "two/1.parquet")
    pq.write_table(pa.table({"b": X[20:, 1], "a": X[20:, 0]}), "two/2.parquet")
    done = run("fit", "two", "-k", 2, "--method", "pckmeans", "-o", "two.parquet")
    assert done.exit_code == 0, done.output
    written = pq.read_table("two.parquet")
    np.testing.assert_array_equal(written["a"].to_numpy()[20:], X[20:, 0])


def test_a_terminal_counts_blocks_and_ctrl_c_keeps_the_best_of_processes(folder):
    rng = np.random.default_rng(0)
    pq.write_table(
        pa.table({f"x{m}": rng.normal(size=60_000) for m in range(6)}),
        "rows.parquet",
        row_group_size=7_000,
    )
    terminal = Terminal(
        "fit", "rows.parquet", "--workers", 2, "-k", 40, "--method", "pckmeans", "--seed", 0,
        "--set", "tol=0", "--set", "max_iter=100000", "--set", "init=k-means++", "-o", "o.npy",
        kind="xterm",
    )  # fmt: skip
    try:
        terminal.read_until("PCKMeans ")
        terminal.read_until("block ")
        terminal.read_until("of at most 100000")
        terminal.press("\x03")
        terminal.read_until("Ending after this step")
        terminal.read_until("Stopped early")
        assert terminal.close() == Exit.STOPPED_EARLY
    finally:
        terminal.process.kill()
    assert np.load("o.npy").shape == (60_000,)


# A write beyond the limit fails as on a full disk once the signal is ignored. The first fit may
# store compiled code.
FULL = """
import resource, signal, sys
import numpy as np
from coterie.cli.main import main
from coterie.data import open_column, write_labels
from coterie.exceptions import NotWritten
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fit = sys.argv[1:]
main([*fit, "-o", "good.parquet"], standalone_mode=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for name in ["o.csv", "o.jsonl", "o.parquet", "o.feather", "o.npy"]:
    print(main([*fit, "-o", name], standalone_mode=False), flush=True)
print(main([*fit, "--force", "-o", "good.parquet"], standalone_mode=False), flush=True)
try:
    labels = np.random.default_rng(0).integers(50, size=400)
    write_labels("l.parquet", labels, ids=open_column("big", "key"))
except NotWritten as error:
    print(error)
"""


def test_a_full_disk_leaves_nothing_and_keeps_what_was(parts):
    fit = ("fit", "big", *map(str, FIT), "--method", "pckmeans", "--quiet")
    done = subprocess.run(
        [sys.executable, "-c", FULL, *fit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    *codes, last = done.stdout.splitlines()
    assert codes == [str(Exit.NOT_WRITTEN.value)] * 6, done.stdout
    assert "l.parquet was not written" in last
    assert done.stderr.count(" was not written: ") == 6, done.stderr
    names = {path.name for path in parts.iterdir()}
    assert names == {"big", "whole.parquet", "pairs.csv", "good.parquet"}
    assert len(labels("good.parquet")) == N


def test_a_file_changed_before_the_labels_are_written_leaves_nothing(parts, run, monkeypatch):
    fit = PCKMeans.fit

    def and_touch(self, *arguments, **options):
        done = fit(self, *arguments, **options)
        os.utime("big/3.parquet", ns=(0, 0))
        return done

    monkeypatch.setattr(PCKMeans, "fit", and_touch)
    done = run("fit", "big", *FIT, "--method", "pckmeans", "-o", "out.csv")
    assert done.exit_code == Exit.BAD_INPUT
    assert "3.parquet was rewritten since its rows were opened; nothing was written" in done.stderr
    assert not list(parts.glob("*out.csv*"))


def test_a_process_that_is_killed_is_told_and_nothing_is_written(parts, run, monkeypatch):
    from coterie.data import ProcessEngine

    start = ProcessEngine.map

    def and_kill(self, *arguments):
        results = start(self, *arguments)
        yield next(results)
        os.kill(next(iter(self.pool._processes)), signal.SIGKILL)
        yield from results
        yield from start(self, *arguments)

    monkeypatch.setattr(ProcessEngine, "map", and_kill)
    before = listing(".")
    killed = run("fit", "big", *FIT, "--method", "pckmeans", "--workers", 1, "-o", "b.csv")
    assert killed.exit_code == Exit.WORKERS_LOST
    assert "a process of the pool died" in killed.stderr
    assert listing(".") == before


def test_texts_in_parts_are_clustered_by_the_topics_of_the_whole(folder, run):
    rng = np.random.default_rng(0)
    own = [[f"{kind}{j}" for j in range(30)] for kind in ("boat", "bread")]
    y = np.arange(240) % 2
    texts = [" ".join(["the", "of", *rng.choice(own[k], 12)]) for k in y]
    texts[3], texts[150] = "", "NA"
    table = pa.table({"key": [f"d{row}" for row in range(240)], "body": texts})
    pq.write_table(table, "whole.parquet")
    (folder / "big").mkdir()
    for number, start in enumerate(range(0, 240, 60)):
        pq.write_table(table.slice(start, 60), f"big/{number}.parquet", row_group_size=25)
    (folder / "pairs.csv").write_text("a,b,kind\nd0,d2,must\nd0,d1,cannot\nd3,d5,must\n")
    how = ("--id", "key", "--text", "body", "-k", 2, "--seed", 0, "--method", "pckmeans")
    said = []
    for data in ("whole.parquet", "big"):
        done = run(
            "fit", data, "pairs.csv", *how, "-o", f"{data[:3]}.csv", "--save", f"m{data[:3]}"
        )
        assert done.exit_code == 0, done.output
        assert "2 rows are without words and in no cluster (-1): d3, d150" in done.stderr
        assert "1 pair about rows that are left out not used" in done.stderr
        said.append(done.stdout.replace(data[:3], "x"))
    assert said[0] == said[1]
    assert "2 clusters of 238 rows" in said[0]
    assert "60 words" in said[0]
    assert (folder / "who.csv").read_text() == (folder / "big.csv").read_text()
    assert "d150,NA,-1" in (folder / "big.csv").read_text()
    again = run("predict", "mbig", "big", "-o", "again.csv")
    assert again.exit_code == 0, again.output
    assert (folder / "again.csv").read_text() == (folder / "big.csv").read_text()
