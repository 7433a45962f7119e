"""What a fit holds for each row of a file: the page "Rows that do not fit" promises these bytes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from coterie import PPC, RCA, DPMeans, GPKMeans, Mosaic, MPCKMeans, PCKMeans, RDPMeans, TVClust
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import sample_pairs
from coterie.data import open_rows, use_threads

D, K = 12, 8
FEW, MANY = 100_000, 300_000


class OfTwoThousand(Mosaic):
    """Learns from so few rows that it is placing all of them that holds most.

    What learning from 35,000 holds hides it, and changes by megabytes with the rows that are drawn.
    """

    tuning = Tuning(most_features=2_000 * 1_000)


# Bytes a row. Rows are 48 bytes here, costs by cluster 64; a block of 1/64 of the rows is about 1.
PROMISED = {
    "pckmeans": (PCKMeans(K, max_iter=4, random_state=0), 4),
    "mpck": (MPCKMeans(K, max_iter=4, random_state=0), 8),
    "dp": (DPMeans(n_clusters_hint=K, max_iter=3, random_state=0), 12),
    "rdp": (RDPMeans(n_clusters_hint=K, max_iter=3, random_state=0), 12),
    "tvclust": (
        TVClust(covariance_type="diag", truncation=10, n_init=1, max_iter=4, random_state=0), 18,
    ),
    "ppc": (PPC(K, covariance_type="diag", max_iter=3, random_state=0), 16),
    "rca": (RCA(), 5),
    "mosaic": (OfTwoThousand(K, n_prototypes=50, random_state=0), 4),
    "gpk": (GPKMeans(PCKMeans(K, max_iter=4, random_state=0), n_rounds=2), 12),
}  # fmt: skip


def made(folder, n):
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    X = (4 * rng.standard_normal((K, D))[y] + rng.standard_normal((n, D))).astype(np.float32)
    np.save(folder / f"{n}.npy", X)
    return open_rows(folder / f"{n}.npy"), sample_pairs(y, 200, random_state=0)


def held(estimator, rows, known):
    pairs = {} if isinstance(estimator, DPMeans) else {"constraints": known}
    tracemalloc.start()
    try:
        clone(estimator).fit(rows, **pairs)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", PROMISED)
@pytest.mark.filterwarnings("ignore::coterie.exceptions.CoterieWarning")
def test_bytes_a_row(tmp_path, name, monkeypatch):
    monkeypatch.setattr("coterie.cluster.kmeans.starts._MANY_ROWS", 1_000)  # as beyond two million
    estimator, promised = PROMISED[name]
    with use_threads(1):
        held(estimator, *made(tmp_path, 20_000))  # what is compiled and cached is not the rows'
        few, many = (held(estimator, *made(tmp_path, n)) for n in (FEW, MANY))
    assert (many - few) / (MANY - FEW) < promised + 2.5
