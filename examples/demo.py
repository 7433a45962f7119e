"""What `make demo` runs: wine, clustered with and without what we know about some pairs.

Draws 120 random pairs of the 178 wines of scikit-learn's wine data, tells the clusterers which
are of the same cultivar, and compares. Writes a picture to demo-output/.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from coterie import Constraints, HMRFKMeans, MPCKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.metrics import constraint_satisfaction, match_labels

OUTPUT = Path("demo-output")


def compare(X: np.ndarray, y: np.ndarray, known: Constraints) -> dict[str, np.ndarray]:
    """Fit each clusterer, print a table, return the labels by name."""
    clusterers = {
        "K-Means (no pairs)": KMeans(3, n_init=1, random_state=0),
        "PCKMeans": PCKMeans(3, random_state=0),
        "HMRF-KMeans": HMRFKMeans(3, metric_form="full", prior=None, random_state=0),
        "MPCK-Means": MPCKMeans(3, random_state=0),
    }
    table = Table(title=f"Wine: 178 rows, 13 columns, 3 cultivars, {known.n_pairs} pairs")
    for heading in ("", "ARI", "broken pairs", "seconds"):
        table.add_column(heading, justify="right" if heading else "left")
    labels = {}
    for name, clusterer in clusterers.items():
        takes_pairs = not isinstance(clusterer, KMeans)
        options = {"constraints": known} if takes_pairs else {}
        clusterer.fit(X, **options)  # compiles, or loads what was compiled before
        begun = time.perf_counter()
        labels[name] = clusterer.fit(X, **options).labels_
        seconds = time.perf_counter() - begun
        broken = constraint_satisfaction(labels[name], known).n_broken
        score = adjusted_rand_score(y, labels[name])
        table.add_row(name, f"{score:.3f}", f"{broken}", f"{seconds:.3f}")
    Console().print(table)
    return labels


def draw(X: np.ndarray, labels: dict[str, np.ndarray], known: Constraints, path: Path) -> None:
    """Two maps side by side: clusters in colour, broken pairs in red."""
    flat = PCA(2).fit_transform(X)
    chosen = [name for name in labels if name in ("K-Means (no pairs)", "PCKMeans")]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
    for ax, name in zip(axes, chosen, strict=True):
        mine = in_colours_of(labels[chosen[-1]], labels[name])
        same = mine[known.pairs[:, 0]] == mine[known.pairs[:, 1]]
        broken = same != (known.kind > 0)
        for pair, kind, bad in zip(known.pairs, known.kind, broken, strict=True):
            style = "-" if kind > 0 else ":"
            colour, width = ("crimson", 1.5) if bad else ("0.8", 0.5)
            ax.plot(*flat[pair].T, style, color=colour, lw=width, zorder=2 if bad else 1)
        ax.scatter(*flat.T, c=mine, cmap="viridis", s=26, edgecolor="white", lw=0.5, zorder=3)
        ax.set_title(f"{name}: {broken.sum()} of {known.n_pairs} pairs broken")
        ax.set(xticks=[], yticks=[])
    figure.suptitle("must-links solid, cannot-links dotted, broken pairs red", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def in_colours_of(reference: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """`labels` renumbered to agree with `reference`, so that colours mean the same."""
    matched = match_labels(reference, labels)
    return np.array([matched[label] for label in labels.tolist()])


def main() -> None:
    """Run the comparison and write the picture."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    known = sample_pairs(y, 120, random_state=0)
    print(f"What we know: {known}")
    labels = compare(X, y, known)
    OUTPUT.mkdir(exist_ok=True)
    draw(X, labels, known, OUTPUT / "wine.png")
    print(f"Picture: {OUTPUT / 'wine.png'}")


if __name__ == "__main__":
    main()
