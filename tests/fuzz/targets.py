"""What `make fuzz` tries beside tables: saved models, logs of answers, engines and their twins.

Each function tries the case of a seed and refuses what may never be by an AssertionError.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from forging import forged_array, forged_json
from mutations import broken
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "active")]

from damaged_log import make_log, outcome  # noqa: E402
from inference.problems import random_problem  # noqa: E402

from coterie import Constraints, load  # noqa: E402
from coterie.estimators import ESTIMATORS, estimator_class  # noqa: E402
from coterie.exceptions import CoterieError  # noqa: E402
from coterie.inference import ENGINES, NoFeasibleLabels, infer  # noqa: E402
from reference.pairwise import enumerate_model, naive_energy  # noqa: E402

__all__ = ["damaged_log", "damaged_model", "engine_and_twin", "forged_model"]


# -- models ------------------------------------------------------------------------------------
def damaged_model(seed: int, folder: Path) -> None:
    """A saved model with one broken file: a typed error, or a model that is used without harm.

    Every second one has no checksums, as one of 0.1.0, so that what else would tell is tried.
    """
    rng = random.Random(seed)
    kind, copy = _copied_model(rng, folder)
    if seed % 2:
        _edit(copy, lambda index: index.pop("sums"))
    file = rng.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
    file.write_bytes(broken(file.read_bytes(), rng))
    _use(copy, f"model {kind}, seed {seed}, {file.name}")


def forged_model(seed: int, folder: Path) -> None:
    """A saved model that somebody changed with care: JSON is JSON, arrays are arrays."""
    rng = random.Random(seed)
    kind, copy = _copied_model(rng, folder)
    _edit(copy, lambda index: index.pop("sums"))
    files = sorted(copy.glob("*.npy"))
    if files and rng.random() < 0.5:
        file = rng.choice(files)
        np.save(file, forged_array(np.load(file), rng))
    else:
        _edit(copy, lambda index: index.update(model=forged_json(index["model"], rng)))
    _use(copy, f"forged model {kind}, seed {seed}")


_X = np.abs(np.random.default_rng(0).normal(size=(30, 3)) + 5 * np.eye(3)[np.arange(30) % 3])
_MANY = 100  # starts, iterations and whatever else is counted by a parameter
_KNOWN = Constraints(30, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1)])


def _copied_model(rng: random.Random, folder: Path) -> tuple[str, Path]:
    """A copy of one of the saved models, all of which are made when the first is asked for."""
    for name in ESTIMATORS:
        if not (folder / name).exists():
            cls = estimator_class(name)
            takes = cls().get_params(deep=False)
            given = {key: 3 for key in ("n_clusters", "n_components") if key in takes}
            pairs = {"constraints": _KNOWN} if has_fit_parameter(cls, "constraints") else {}
            cls(**given).fit(_X, **pairs).save(folder / name)
    kind = rng.choice(sorted(ESTIMATORS))
    copy = folder / "broken-model"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / kind, copy)
    return kind, copy


def _edit(model: Path, change: Callable[[dict[str, Any]], object]) -> None:
    index = json.loads((model / "model.json").read_text())
    change(index)
    (model / "model.json").write_text(json.dumps(index))


def _use(path: Path, said: str) -> None:
    """Load the model and do with it what can be done: each works, or says what is wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except CoterieError:
            return
        except Exception as error:
            raise AssertionError(f"{said}: {error!r}") from error
        for use in ("predict", "transform", "predict_proba", "score", "extend", "fit"):
            params = model.get_params(deep=False)
            # Who asks for a million starts waits for them: no finding, and no end of the run.
            many = (k for k, v in params.items() if isinstance(v, int) and v > _MANY)
            warm = {"warm_start": True, **dict.fromkeys(many, _MANY)}
            if not hasattr(model, use) or (use == "fit" and "warm_start" not in params):
                continue
            pairs = {"constraints": _KNOWN} if use == "fit" else {}
            try:
                model = model.set_params(**warm) if use == "fit" else model
                getattr(model, use)(_X, **pairs)
            except (CoterieError, NotFittedError):
                continue
            except Exception as error:
                raise AssertionError(f"{said}, {use}: {error!r}") from error


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
