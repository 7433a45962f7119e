"""PPC with hard and noisy pairs, partial labels, and on a mosaic (Lu and Leen 2007, section 5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from blocks import (
    CLASSES,
    block_features,
    block_labels,
    links_of,
    make_mosaic,
    partial_labels,
)
from further import cop, decay, one_start, stronger, weight
from models import (
    PAPER,
    accuracy,
    disjoint_pairs,
    fit_cop,
    fit_mixture,
    fit_ppc,
    scaled,
    soft_kmeans,
)
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from coterie import PPC, Constraints
from lab import Row


def cell(part: str, **options: Any) -> Iterator[Row]:
    """One draw of one figure on one data set."""
    return PARTS[part](**options)


def hard_pairs(set: str, draw: int, seed: int, pairs: list[int], rows: int) -> Iterator[Row]:
    """Accuracy on the training rows and on the tenth held out (Figures 6 to 9)."""
    data = scaled(set, rows)
    for count in pairs:
        rng = np.random.default_rng([seed, count])
        order = rng.permutation(data.y.size)
        test, train = np.split(order, [data.y.size // 10])
        X, y = data.X[train], data.y[train]
        drawn = disjoint_pairs(y, count, rng).as_hard()
        models = {
            "PPC": fit_ppc(data.k, X, drawn, seed),
            "constrained EM": fit_ppc(data.k, X, drawn, seed, sampling="chunklet"),
            "COP-KMeans": fit_cop(data.k, X, drawn, seed),
        }
        found = {
            name: {
                "train": accuracy(y, model.labels_),
                "test": accuracy(data.y[test], model.predict(data.X[test])),
            }
            for name, model in models.items()
        }
        ppc, cem = found["PPC"], found["constrained EM"]
        found["PPC - constrained EM"] = {name: ppc[name] - cem[name] for name in ppc}
        found["PPC, held out"] = {"train": ppc["test"]}  # to set beside the training rows
        for method, scores in found.items():
            yield {"method": method, "pairs": count, **scores}


def noisy_pairs(set: str, q: float, draw: int, seed: int, rows: int) -> Iterator[Row]:
    """Half of the rows in pairs, a share q of them wrong; all rows are clustered (Figure 10)."""
    data = scaled(set, rows)
    rng = np.random.default_rng([seed, round(100 * q)])
    soft = disjoint_pairs(data.y, data.y.size // 4, rng, flip=q)
    hard = soft.as_hard()
    plain = KMeans(data.k, n_init=10, random_state=seed).fit(data.X)
    labels = {
        "A mixture": fit_mixture(data.k, data.X, seed),
        "B soft PPC": fit_ppc(data.k, data.X, soft, seed).labels_,
        "C hard PPC": fit_ppc(data.k, data.X, hard, seed).labels_,
        "D K-Means": plain.labels_,
        "F hard K-Means": fit_cop(data.k, data.X, hard, seed).labels_,
    }
    for method, found in labels.items():
        yield {"method": method, "train": accuracy(data.y, found)}
    yield {"method": "E soft K-Means", "train": soft_kmeans(data, soft, seed)}


def components(set: str, draw: int, seed: int, pairs: int) -> Iterator[Row]:
    """One and two Gaussians a cluster (section 6), 50 hard pairs, all rows."""
    data = scaled(set)
    rng = np.random.default_rng(seed)
    drawn = disjoint_pairs(data.y, pairs, rng).as_hard()
    for count in (1, 2):
        model = fit_ppc(data.k, data.X, drawn, seed, components_per_cluster=count)
        yield {
            "method": f"{count} a cluster",
            "pairs": pairs,
            "train": accuracy(data.y, model.labels_),
        }


def partial(draw: int, seed: int) -> Iterator[Row]:
    """Do-not-links between two areas, one of which holds two textures (Figure 11).

    Half of the blocks are for training; the mixture assigns the others. The area named "snow" in
    the paper is here the two textures of the halves, "non-snow" the disc.
    """
    image, region = make_mosaic(draw)
    X, texture = block_features(image), block_labels(region).ravel()
    snow = texture != CLASSES - 1
    rng = np.random.default_rng(seed)
    train = rng.permutation(texture.size)[: texture.size // 2]
    apart = partial_labels(snow[train], rng)
    ppc = fit_ppc(CLASSES, X[train], apart, seed)
    labels = np.empty(texture.size, dtype=np.int64)
    labels[:] = ppc.predict(X)
    labels[train] = ppc.labels_
    plain = GaussianMixture(CLASSES, n_init=8, random_state=seed).fit(X[train]).predict(X)
    for method, found in (("mixture", plain), ("hard PPC", labels)):
        other = np.bincount(found[~snow], minlength=CLASSES).argmax()
        yield {
            "method": method,
            "ari": float(adjusted_rand_score(texture, found)),
            "lost": float(np.mean(found[snow] == other)),
            "found": float(np.mean(found[~snow] == other)),
        }


def mosaic(draw: int, seed: int) -> Iterator[Row]:
    """Neighbouring blocks linked softly, by mean field and by Gibbs sampling (Figure 12)."""
    image, region = make_mosaic(draw)
    X, truth = block_features(image), block_labels(region)
    seconds = {}
    for method, links, inference in (
        ("mixture", None, "auto"),
        ("mean field", links_of(truth), "mean_field"),
        ("Gibbs sampling", links_of(truth), "gibbs"),
    ):
        labels, seconds[method] = timed_labels(X, links, inference, seed)
        ari = float(adjusted_rand_score(truth.ravel(), labels))
        yield {"method": method, "ari": ari, "seconds": seconds[method]}
    ratio = seconds["Gibbs sampling"] / seconds["mean field"]
    yield {"method": "Gibbs / mean field", "seconds": ratio}


def timed_labels(
    X: NDArray[Any], links: Constraints | None, inference: str, seed: int
) -> tuple[NDArray[Any], float]:
    """Labels and CPU seconds, all methods from the same start."""
    settings = {**PAPER, "reg_covar": 1e-6, "init": "kmeans", "n_init": 3}
    model = PPC(CLASSES, inference=inference, random_state=seed, **settings)
    begin = time.process_time()
    model.fit(X, constraints=links)
    return model.labels_, time.process_time() - begin


PARTS: dict[str, Callable[..., Iterator[Row]]] = {
    "artificial": hard_pairs,
    "artificial_3": hard_pairs,
    "iris": hard_pairs,
    "uci": hard_pairs,
    "noise": noisy_pairs,
    "components": components,
    "partial": partial,
    "mosaic": mosaic,
    "one_start": one_start,
    "cop": cop,
    "weight": weight,
    "stronger": stronger,
    "decay": decay,
}
