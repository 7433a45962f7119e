"""Every estimator that reads rows by passes gives the bits of memory, wherever the rows are kept
and whoever works on them: one table of estimators, one of sources, one of engines.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from coterie import (
    LCVQE,
    PPC,
    RCA,
    ConstrainedCompleteLink,
    ConstrainedKMeans,
    COPKMeans,
    DPMeans,
    GPKMeans,
    GraphPropagation,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
    SeededKMeans,
    TVClust,
)
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import sample_pairs
from coterie.data import DerivedRows, StoredRows, engine, open_rows, unpacked, use_threads
from coterie.exceptions import InvalidData, InvalidParameter

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
zarr = pytest.importorskip("zarr")

N, D, K = 11_000, 4, 3
NAMES = [f"c{m}" for m in range(D)]


def make():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    X = (3 * rng.standard_normal((K, D))[y] + rng.standard_normal((N, D)) + 50).astype(np.float32)
    return X, sample_pairs(y, 300, random_state=0)


X, KNOWN = make()
COUNTS = np.maximum(np.round(X - 48), 0) + 1
SPARSE = np.where(np.abs(X - 50) < 2, 0, X)  # some rows of zeros among them
TV = {"covariance_type": "diag", "n_init": 1, "truncation": 6, "random_state": 0}


class MosaicOfSome(Mosaic):
    """It learns from fewer rows than there are, as it does of many."""

    tuning = Tuning(most_features=2_000 * 1_000)


# What is fitted to which rows; all but the last few to dense ones.
DENSE = {
    "pckmeans": PCKMeans(K, random_state=0),
    "pckmeans k-means++": PCKMeans(K, init="k-means++", random_state=1),
    "pckmeans kl": PCKMeans(K, distortion="kl", random_state=0),
    "pckmeans mahalanobis": PCKMeans(K, distortion="mahalanobis", random_state=0),
    "hmrf": HMRFKMeans(K, random_state=0),
    "hmrf cosine": HMRFKMeans(K, distortion="cosine", random_state=0),
    "hmrf full": HMRFKMeans(K, metric_form="full", random_state=0),
    "mpck": MPCKMeans(K, random_state=0),
    "mpck full": MPCKMeans(K, metric_form="full", per_cluster=False, random_state=0),
    "cop": COPKMeans(K, random_state=0),
    "seeded": SeededKMeans(K, random_state=0),
    "constrained": ConstrainedKMeans(K, random_state=0),
    "lcvqe": LCVQE(K, random_state=0),
    "dp": DPMeans(n_clusters_hint=K, random_state=0),
    "dp lambda": DPMeans(50.0, init="single", max_iter=6, random_state=0),  # rows open clusters
    "rdp": RDPMeans(random_state=0),
    "rdp single, natural": RDPMeans(40.0, init="single", order="natural", random_state=0),
    "rdp paper": RDPMeans("paper", K, divergence="euclidean", random_state=0),
    "rdp farthest": RDPMeans("farthest_first", K, random_state=0),
    "tvclust": TVClust(**TV),
    "tvclust full": TVClust(**{**TV, "covariance_type": "full"}),
    "ppc": PPC(K, max_iter=8, tol=0.01, random_state=0),
    "rca": RCA(),
    "mosaic": Mosaic(K, random_state=0),
    "mosaic of some": MosaicOfSome(K, random_state=0),
    "gpk": GPKMeans(MPCKMeans(K, random_state=0), n_rounds=2),
    "gpk threshold": GPKMeans(PCKMeans(K, random_state=0), threshold=0.9, n_rounds=1),
    "gpk full, in RCA's space": GPKMeans(
        MPCKMeans(K, metric_form="full", random_state=0), n_rounds=1, reduce_dim=RCA(2)
    ),
    "gpk around a pipeline": GPKMeans(
        make_pipeline(RCA(3), PCKMeans(K, random_state=0)), n_rounds=1
    ),
}
FEW = ["pckmeans", "mpck full", "rdp", "dp lambda", "tvclust", "ppc", "rca", "gpk"]  # of each kind
FEW += ["mosaic of some"]
OF_COUNTS = {
    "rdp kl": RDPMeans(n_clusters_hint=K, divergence="kl", random_state=0),
    "tvclust multinomial": TVClust(**TV, family="multinomial"),
    "tvclust poisson": TVClust(**TV, family="poisson"),
}
OF_ZEROS = {
    "pckmeans": PCKMeans(K, random_state=0),
    "dp": DPMeans(n_clusters_hint=K, random_state=0),
    "rdp lambda": RDPMeans(2_000.0, random_state=0),
    "mosaic": Mosaic(K, random_state=0),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 1_000)


def written(folder, rows, kind):
    """The rows in files, or as another kind of source."""
    table = pa.table({name: rows[:, m] for m, name in enumerate(NAMES)})
    if kind in ("npy", "memmap"):
        np.save(folder / "rows.npy", rows)
        path = folder / "rows.npy"
        return open_rows(path) if kind == "npy" else np.load(path, mmap_mode="r")
    if kind in ("parquet", "parquet, small groups", "parquet, read on", "unpacked"):
        size = 333 if kind == "parquet, small groups" else 5_000
        pq.write_table(table.slice(0, 7_001), folder / "a.parquet", row_group_size=size)
        pq.write_table(table.slice(7_001), folder / "b.parquet", row_group_size=size)
        found = open_rows(folder)
        if kind == "parquet, read on":
            found._bytes = 1 << 60  # as where they are too many to be kept
        return unpacked(found, folder) if kind == "unpacked" else found
    if kind == "arrow":
        path = str(folder / "rows.arrow")
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=777)
        return open_rows(folder / "rows.arrow")
    if kind == "zarr":
        stored = zarr.create_array(
            folder / "rows.zarr", shape=rows.shape, chunks=(1_234, 3), dtype=rows.dtype
        )
        stored[:] = rows
        return open_rows(folder / "rows.zarr")
    if kind == "npz":
        sparse = sp.csr_matrix(rows)
        for number, (start, stop) in enumerate([(0, 6_345), (6_345, N)]):
            sp.save_npz(folder / f"part-{number}.npz", sparse[start:stop])
        return open_rows(folder / "part-*.npz")
    if kind == "dask frame":
        return dd.from_pandas(pd.DataFrame(rows, columns=NAMES), npartitions=3)
    return da.from_array(rows, chunks={"dask": (2_345, D), "dask, cut columns": (4_000, 3)}[kind])


SOURCES = ["memmap", "npy", "parquet", "parquet, small groups", "parquet, read on", "unpacked"]
SOURCES += ["arrow", "zarr"]
DASK = ["dask", "dask, cut columns", "dask frame"]


def fitted(estimator, rows):
    known = {} if isinstance(estimator, DPMeans) else {"constraints": KNOWN}
    return clone(estimator).fit(rows, **known)


def numbers(model, rows):
    """All that a fitted model says, as arrays by name; rows made when read are read here."""
    found = {
        name: np.asarray(value)
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, np.ndarray | float | int)
        if name not in ("feature_names_in_", "resp_")
    }
    for name in ("predict", "transform", "predict_proba", "score", "score_samples"):
        if hasattr(model, name):
            made = getattr(model, name)(rows)
            if isinstance(made, StoredRows):
                assert isinstance(made, DerivedRows)
                made = made.read(0, made.n)
            found[name] = np.asarray(made)
    return found


_IN_MEMORY: dict[object, dict[str, np.ndarray]] = {}


def in_memory(estimator, rows):
    """What the rows in memory give, worked out once."""
    key = (repr(estimator), id(rows))
    if key not in _IN_MEMORY:
        with use_threads(1):
            _IN_MEMORY[key] = numbers(fitted(estimator, rows), rows)
    return _IN_MEMORY[key]


def assert_same(estimator, memory, rows):
    wanted = in_memory(estimator, memory)
    got = numbers(fitted(estimator, rows), rows)
    assert set(got) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)
        assert got[name].dtype == value.dtype, name
    if "labels_" in got:
        assert got["labels_"].dtype == np.int32


@pytest.mark.parametrize("name", DENSE)
def test_files_give_the_bits_of_memory(tmp_path, name):
    with use_threads(2):
        assert_same(DENSE[name], X, written(tmp_path, X, "parquet, small groups"))


@pytest.mark.parametrize("kind", [*SOURCES, *DASK])
@pytest.mark.parametrize("name", FEW)
def test_every_source(tmp_path, name, kind):
    assert_same(DENSE[name], X, written(tmp_path, X, kind))


@pytest.mark.parametrize("kind", ["arrow", "dask"])
@pytest.mark.parametrize("name", OF_COUNTS)
def test_counts(tmp_path, name, kind):
    assert_same(OF_COUNTS[name], COUNTS, written(tmp_path, COUNTS, kind))


@pytest.mark.parametrize("name", OF_ZEROS)
def test_sparse_parts(tmp_path, name):
    assert_same(OF_ZEROS[name], sparse_rows(), written(tmp_path, SPARSE, "npz"))


_SPARSE = sp.csr_matrix(SPARSE)


def sparse_rows():
    return _SPARSE


@pytest.fixture(scope="module")
def pool():
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        yield pool


@pytest.fixture(scope="module")
def clusters():
    """Clients of clusters with one, two and three workers; none is the default one."""
    with ExitStack() as stack:
        found = {}
        for workers in (1, 2, 3):
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            )
            client = distributed.Client(stack.enter_context(cluster), set_as_default=False)
            found[workers] = stack.enter_context(client)
        yield found


@contextmanager
def working(who, pool, clusters):
    kind, count = who
    if kind == "threads":
        with use_threads(count):
            yield
    else:
        with engine(pool if kind == "processes" else clusters[count]):
            yield


ENGINES = [
    *(("threads", count) for count in (1, 2, 4)),
    ("processes", 2),
    *(("cluster", workers) for workers in (1, 2, 3)),
]


@pytest.mark.parametrize("who", ENGINES, ids=lambda who: f"{who[1]} {who[0]}")
@pytest.mark.parametrize("name", FEW)
def test_every_engine(tmp_path, name, who, pool, clusters):
    rows = written(tmp_path, X, "parquet, read on")
    with working(who, pool, clusters):
        assert_same(DENSE[name], X, rows)


@pytest.mark.parametrize("name", FEW)
def test_rows_of_dask_stay_on_their_cluster(name, clusters):
    with clusters[2].as_current():
        assert_same(DENSE[name], X, written(None, X, "dask"))


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (TVClust(inference="gibbs"), "inference='variational' fits the same model"),
        (ConstrainedCompleteLink(K), "COPKMeans keeps every pair too"),
        (GPKMeans(ConstrainedCompleteLink(K)), "ConstrainedCompleteLink cannot: put PCKMeans"),
        (GPKMeans(PCKMeans(K), reduce_dim=PCA(2)), "PCA cannot: put .* RCA or nothing"),
        (GraphPropagation(), r"MPCKMeans\(init=model.estimator_\)"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
@pytest.mark.parametrize("kind", ["npy", "dask"])
def test_who_needs_rows_in_memory_says_so_and_what_to_do(tmp_path, estimator, told, kind):
    with pytest.raises(InvalidData, match=f"works on rows in memory.*{told}"):
        estimator.fit(written(tmp_path, X, kind), constraints=KNOWN)


def test_what_propagation_tells_to_do_works(tmp_path):
    rows = np.union1d(np.unique(KNOWN.pairs), np.arange(0, N, 20))
    sample = GraphPropagation(MPCKMeans(K, random_state=0))
    sample.fit(X[rows], constraints=KNOWN.subset(rows))
    model = MPCKMeans(K, init=sample.estimator_, random_state=0)
    assert model.fit(written(tmp_path, X, "npy"), constraints=KNOWN).labels_.shape == (N,)


def test_pairs_are_carried_to_rows_in_files(tmp_path):
    rows = written(tmp_path, X, "parquet, small groups")
    model = GPKMeans(MPCKMeans(K, random_state=0), n_rounds=1).fit(rows, constraints=KNOWN)
    known = GPKMeans(MPCKMeans(K, random_state=0), n_rounds=1).fit(X, constraints=KNOWN)
    assert model.n_propagated_ > 100
    assert model.propagated_constraints_ == known.propagated_constraints_


def test_too_many_pairs_near_rows_in_files_are_refused_as_in_memory(tmp_path):
    model = GPKMeans(PCKMeans(K, random_state=0), threshold=0.05, max_pairs=2_000)
    said = []
    for rows in (X, written(tmp_path, X, "npy")):
        with pytest.raises(InvalidParameter, match="more than max_pairs=2000") as error:
            model.fit(rows, constraints=KNOWN)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_propagation_fitted_in_memory_predicts_for_files(tmp_path):
    some = np.arange(2_000)
    model = GraphPropagation(PCKMeans(K, random_state=0))
    model.fit(X[some], constraints=KNOWN.subset(some))
    got = model.predict(written(tmp_path, X, "npy"))
    np.testing.assert_array_equal(got, model.predict(X))


def test_eigenvectors_of_rows_in_files_are_refused(tmp_path):
    rows = written(tmp_path, X, "npy")
    with pytest.raises(InvalidParameter, match="not for rows in files; use init='auto'"):
        RDPMeans(40.0, init="spectral").fit(rows, constraints=KNOWN)


def test_a_count_below_zero_is_named_by_its_place(tmp_path):
    bad = COUNTS.copy()
    bad[9_000, 1] = -1
    rows = written(tmp_path, bad, "parquet")
    with pytest.raises(InvalidData, match=r"b\.parquet, row group 0, row \d+ on.*-1: Negative"):
        TVClust(family="poisson").fit(rows)


def test_sparse_rows_for_dense_models_are_refused(tmp_path):
    with pytest.raises(InvalidData, match="takes dense rows, and these are sparse"):
        RCA().fit(written(tmp_path, SPARSE, "npz"), constraints=KNOWN)
