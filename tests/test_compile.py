"""No kernel is compiled twice: dtype, layout and index type are settled before it is called.

A process of its own fits every estimator of the common table to the same small table, soft pairs
and, where it takes them, hard ones, and lists the signatures of every kernel of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from common.estimators import CASES


def small_fits() -> dict[str, dict[str, list[str]]]:
    """Fit here; the new signatures of each kernel after each case of the table."""
    import warnings

    import numpy as np
    from sklearn.base import clone
    from sklearn.datasets import load_iris

    from coterie import Constraints

    texts = text_functions()
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(len(y), 2, replace=False) for _ in range(50)])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    soft = Constraints(len(y), must_link=pairs[same], cannot_link=pairs[~same])
    before: dict[str, set[str]] = {}
    found = {}
    for case in CASES:
        able = case.capabilities
        params = {able.n_clusters: 3, "random_state": 0}
        known = case.estimator.get_params()
        model = clone(case.estimator).set_params(**{k: v for k, v in params.items() if k in known})
        told = [{"constraints": soft}] * able.soft + [{"constraints": soft.as_hard()}] * able.hard
        for given in told if able.constraints else [{}]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(able.prepare(X), **given)
        after = signatures()
        found[case.name] = {
            kernel: sorted(now) for kernel, now in after.items() if now != before.get(kernel, set())
        }
        before = after
    return {**found, "texts": {name: [] for name in texts}}


def text_functions() -> list[str]:
    """Kernels that compile functions of numba's about texts, from here on."""
    from numba.core import event

    names: list[str] = []
    within: list[str] = []

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            within.append(f"{function.__module__}.{function.__qualname__}")
            if "unicode" in function.__module__:
                names.extend(name for name in within if name.startswith("coterie."))

        def on_end(self, event: Any) -> None:
            within.pop()

    event.register("numba:compile", Listener())
    return names


def signatures() -> dict[str, set[str]]:
    """Signatures of every kernel in the modules of ours that are loaded."""
    from numba.extending import is_jitted

    kernels: dict[str, Any] = {}
    for module in [m for name, m in sys.modules.items() if name.startswith("coterie.")]:
        for value in vars(module).values():
            if is_jitted(value):
                kernels[f"{value.py_func.__module__}.{value.py_func.__qualname__}"] = value
    return {name: set(map(str, kernel.signatures)) for name, kernel in kernels.items()}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> dict[str, dict[str, list[str]]]:
    """With an empty cache: what a cached kernel calls would not be seen."""
    code = "import json, test_compile; print(json.dumps(test_compile.small_fits()))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("kernels")),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", [case.name for case in CASES])
def test_one_signature_per_kernel(compiled, case):
    twice = {kernel: found for kernel, found in compiled[case].items() if len(found) > 1}
    assert not twice, "\n".join(f"{k}: {' | '.join(v)}" for k, v in twice.items())


def test_kernels_are_listed(compiled):
    """The walk over modules finds them: local search is in every fit of PCKMeans."""
    assert "coterie.inference._move_kernels.hopeful_groups" in compiled[CASES[0].name]


def test_no_kernel_builds_texts(compiled):
    """Assigning whole arrays compiles a message about their shapes, which takes seconds."""
    assert not compiled["texts"]
