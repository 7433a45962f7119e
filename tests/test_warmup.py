"""What was warmed is not compiled again."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from coterie.estimators import ESTIMATORS
from coterie.exceptions import InvalidParameter
from coterie.warmup import warm_up

# Fits of every kind of rows, in a process of its own with the cache that was warmed.
AFTER = """
import numpy as np
from scipy import sparse
from coterie import Constraints, DPMeans
from coterie.progress import compiling
rng = np.random.default_rng(1)
X = rng.normal(size=(50, 4))
seen = []
with compiling(seen.append):
    for dtype in (np.float64, np.float32):
        for rows in (X.astype(dtype), sparse.csr_matrix(X.astype(dtype))):
            DPMeans(n_clusters_hint=3, random_state=0).fit(rows).predict(rows)
print(sum(seen))
"""


def python(*arguments, cache):
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_fit_after_the_warm_up_compiles_nothing(tmp_path):
    command = "from coterie.cli.main import main; main(['warmup', 'dpmeans'])"
    assert " compiled\n" in python("-c", command, cache=tmp_path)
    assert "all was there" in python("-c", command, cache=tmp_path)
    assert python("-c", AFTER, cache=tmp_path) == "0\n"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_can_be_warmed(name):
    (done,) = warm_up([name])
    assert done.name == name
    assert done.seconds > 0


def test_an_unknown_name_is_refused():
    with pytest.raises(InvalidParameter, match="no estimator 'nonsense'"):
        list(warm_up(["nonsense"]))
