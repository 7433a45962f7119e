"""Has a change of structure changed a result? Hundreds of small fits, recorded and compared.

    python benchmarks/same_results.py compare [--only Mosaic]
    (say in the commit why each change came, then)
    python benchmarks/same_results.py record

A fit is recorded as its labels and its objective, in `results/same_results.json.gz` unless another
file is named. `compare` lists the fits whose labels differ, and those whose objective differs by
more than rounding, and exits with 1 if there are any. Another type of processor adds in another
order, so there the tree of the recorded commit is to be recorded first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

import coterie
from coterie import Constraints

Array = NDArray[Any]
ROUNDING = 1e-9
RECORDED = Path(__file__).parent / "results" / "same_results.json.gz"

K_MEANS = [
    "PCKMeans",
    "PCKMeans:metric=cosine",
    "PCKMeans:metric=mahalanobis",
    "PCKMeans:w=1.0,n_init=2",
    "PCKMeans:exact_assignment=True",
    "PCKMeans:inference=mean_field",
    "PCKMeans:inference=gibbs",
    "PCKMeans:inference=belief_propagation",
    "PCKMeans:inference=auto",
    "PCKMeans:init=k-means++",
    "PCKMeans:init=random,n_init=3",
    "SeededKMeans",
    "ConstrainedKMeans",
    "HMRFKMeans",
    "HMRFKMeans:distortion=cosine",
    "HMRFKMeans:distortion=kl",
    "HMRFKMeans:metric_form=full",
    "HMRFKMeans:per_cluster=True",
    "HMRFKMeans:learn_metric=False",
    "MPCKMeans",
    "MPCKMeans:metric_form=full",
    "COPKMeans",
    "LCVQE",
]
OTHERS = [
    "ConstrainedCompleteLink",
    "PPC",
    "PPC:covariance_type=diag",
    "PPC:covariance_type=tied",
    "PPC:inference=mean_field",
    "PPC:inference=gibbs",
    "PPC:inference=belief_propagation",
    "RDPMeans",
    "RDPMeans:xi0=1.0,xi_rate=1.0",
    "DPMeans",
    "TVClust",
    "TVClust:inference=gibbs,n_sweeps=40,burn_in=20",
    "GPKMeans",
    "GraphPropagation",
    "Mosaic",
    "Mosaic:noise=0.1",
    "Mosaic:n_prototypes=30",
]
NO_CLUSTERS = ("RDPMeans", "DPMeans", "TVClust")
HARD = ("ConstrainedKMeans", "COPKMeans", "ConstrainedCompleteLink")
POSITIVE = "kl"


def sets() -> dict[str, tuple[Any, Array]]:
    """Small tables with known classes, dense, float32 and sparse."""
    iris, wine, digits = load_iris(), load_wine(), load_digits()
    few = slice(0, None, 6)
    blobs, labels = make_blobs([60, 200, 40], 5, random_state=3, cluster_std=3.0)
    return {
        "iris": (iris.data, iris.target),
        "wine": (StandardScaler().fit_transform(wine.data), wine.target),
        "digits": (sp.csr_matrix(digits.data[few]), digits.target[few]),
        "blobs": ((blobs + 30).astype(np.float32), labels),
    }


def pairs_of(y: Array, count: int, wrong: float, weighted: bool, hard: bool) -> Constraints:
    """Random pairs of the true classes, of which a share is wrong."""
    rng = np.random.default_rng(count + 1)
    ends = np.array([rng.choice(len(y), 2, replace=False) for _ in range(count)], dtype=np.int64)
    ends = ends.reshape(-1, 2)
    same = (y[ends[:, 0]] == y[ends[:, 1]]) != (rng.random(count) < wrong)
    weight = rng.uniform(0.5, 2.0, count) if weighted else np.ones(count)
    known = Constraints(
        len(y),
        must_link=ends[same],
        cannot_link=ends[~same],
        must_weight=weight[same],
        cannot_weight=weight[~same],
    )
    return known.as_hard() if hard else known


def build(text: str, k: int) -> Any:
    """An estimator from "Name:parameter=value,...", told the number of clusters if it takes it."""
    name, _, rest = text.partition(":")
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, value = part.split("=")
        try:
            given[key] = json.loads(value.lower())
        except ValueError:
            given[key] = value
    kind = getattr(coterie, name)
    if name in ("GPKMeans", "GraphPropagation"):
        return kind(coterie.MPCKMeans(k, random_state=0), **given)
    if name not in NO_CLUSTERS:
        given["n_components" if name == "PPC" else "n_clusters"] = k
    if "random_state" in kind().get_params():
        given["random_state"] = 0
    return kind(**given)


def fits(only: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, what came out) of every fit."""
    for set_name, (X, y) in sets().items():
        for count, wrong, weighted in ((0, 0.0, False), (40, 0.0, False), (150, 0.1, True)):
            for text in [*K_MEANS, *OTHERS]:
                if only not in text:
                    continue
                hard = text.startswith(HARD)
                known = pairs_of(y, count, 0.0 if hard else wrong, weighted and not hard, hard)
                rows = abs(X) + 0.0 if POSITIVE in text else X
                yield f"{set_name}/{count}/{text}", one(text, rows, known, len(np.unique(y)))


def one(text: str, X: Any, known: Constraints, k: int) -> dict[str, Any]:
    """Labels, objective and broken pairs of one fit, or the error it ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            given = {} if text == "DPMeans" else {"constraints": known}
            model = build(text, k).fit(X, **given)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
    objective = next(
        (getattr(model, name) for name in ("objective_", "lower_bound_") if hasattr(model, name)),
        float("nan"),
    )
    return {"labels": np.asarray(model.labels_).tolist(), "objective": float(objective)}


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is not as it was, in words."""
    if before.get("error") != after.get("error"):
        return [f"error {before.get('error')!r} -> {after.get('error')!r}"]
    if "error" in before:
        return []
    found = []
    moved = np.sum(np.asarray(before["labels"]) != np.asarray(after["labels"]))
    if moved:
        found.append(f"{moved} of {len(before['labels'])} labels")
    old, new = before["objective"], after["objective"]
    if not np.isclose(old, new, rtol=ROUNDING, atol=0, equal_nan=True):
        found.append(f"objective {old:.12g} -> {new:.12g}")
    return found


def commit() -> str:
    """The commit that the tree is at, marked if the tree is not as it says."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.strip()


def write(path: Path, recorded: dict[str, Any]) -> None:
    """As JSON, packed; the same bytes for the same fits."""
    text = json.dumps({"commit": commit(), "fits": recorded})
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", nargs="?", default=RECORDED, type=Path)
    parser.add_argument("--only", default="", help="only estimators whose text holds this")
    options = parser.parse_args()
    if options.action == "record":
        recorded = dict(fits(options.only))
        write(options.file, recorded)
        errors = sum("error" in fit for fit in recorded.values())
        print(f"{len(recorded)} fits recorded in {options.file}, {errors} of them refusals")
        return
    before = json.loads(gzip.decompress(options.file.read_bytes()))
    changed = 0
    for name, after in fits(options.only):
        if name in before["fits"] and (found := differences(before["fits"][name], after)):
            changed += 1
            print(f"{name}: {'; '.join(found)}")
    print(f"{changed} fits changed since {before['commit']}")
    sys.exit(changed > 0)


if __name__ == "__main__":
    main()
