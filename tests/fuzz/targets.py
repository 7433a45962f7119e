"""What `make fuzz` tries beside tables: saved models, logs of answers, engines and their twins.

Each function tries the case of a seed and refuses what may never be by an AssertionError.
"""

from __future__ import annotations

import random
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
from mutations import broken

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "active")]

from damaged_log import make_log, outcome  # noqa: E402
from inference.problems import random_problem  # noqa: E402

from coterie import PPC, Constraints, Mosaic, PCKMeans, load  # noqa: E402
from coterie.exceptions import CoterieError  # noqa: E402
from coterie.inference import ENGINES, NoFeasibleLabels, infer  # noqa: E402
from reference.pairwise import enumerate_model, naive_energy  # noqa: E402

__all__ = ["damaged_log", "damaged_model", "engine_and_twin"]


# -- models ------------------------------------------------------------------------------------
def damaged_model(seed: int, folder: Path) -> None:
    """A saved model with one broken file: a typed error, or a model that is used without harm."""
    rng = random.Random(seed)
    whole = _models(folder)
    kind = rng.choice(sorted(whole))
    copy = folder / "broken-model"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / kind, copy)
    file = rng.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
    file.write_bytes(broken(file.read_bytes(), rng))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = load(copy).predict(_X)
    except CoterieError:
        return
    except Exception as error:
        raise AssertionError(f"model {kind}, seed {seed}, {file.name}: {error!r}") from error
    assert labels.shape == (len(_X),), f"model {kind}, seed {seed}: labels {labels.shape}"


_X = np.random.default_rng(0).normal(size=(30, 3)) + 5 * np.eye(3)[np.arange(30) % 3]


def _models(folder: Path) -> dict[str, type]:
    kinds: dict[str, type] = {"pckmeans": PCKMeans, "ppc": PPC, "mosaic": Mosaic}
    known = Constraints(30, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1)])
    for name, cls in kinds.items():
        if not (folder / name).exists():
            cls(3, random_state=0).fit(_X, constraints=known).save(folder / name)
    return kinds


# -- logs --------------------------------------------------------------------------------------
def damaged_log(seed: int, folder: Path) -> None:
    """A broken log is refused, or holds what it held."""
    path = folder / "whole.db"
    if path not in _logs:
        _logs[path] = make_log(path)
    data = broken(path.read_bytes(), random.Random(seed))
    found = outcome(_logs[path], folder / "broken.db", data)
    assert found in ("reported", "whole"), f"log, seed {seed}: {found}"


_logs: dict[Path, tuple[Path, list[object]]] = {}


# -- engines -----------------------------------------------------------------------------------
def engine_and_twin(seed: int, folder: Path) -> None:
    """Every engine on a small model, beside the enumeration of all its labellings."""
    problem = random_problem(seed)
    lowest, log_z, marginals, _ = enumerate_model(*problem[1:5])
    for name, engine in ENGINES.items():
        said = f"engine {name}, seed {seed}"
        try:
            found = infer(problem.model, name, random_state=seed % 2**31)
        except NoFeasibleLabels:
            assert np.isinf(lowest), f"{said}: there are feasible labels"
            continue
        assert np.isfinite(lowest), f"{said}: labels where none are feasible"
        near = 1e-6 * (1 + abs(lowest))
        own = naive_energy(*problem[1:5], found.labels)
        assert abs(found.energy - own) <= near, f"{said}: energy {found.energy}, in truth {own}"
        assert own >= lowest - near, f"{said}: below the least energy"
        if engine.proof and found.converged:
            assert own <= lowest + near, f"{said}: {own} is proved, {lowest} is least"
        if engine.marginals:
            assert np.allclose(found.marginals.sum(axis=1), 1), f"{said}: rows do not sum to 1"
        if name == "exact":
            assert abs(found.log_partition - log_z) <= near, f"{said}: log Z"
            assert np.allclose(found.marginals, marginals, atol=1e-8), f"{said}: marginals"
        if "mean_field" in name:
            assert found.log_partition <= log_z + near, f"{said}: the bound is above log Z"
