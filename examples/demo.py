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
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from coterie import Constraints, HMRFKMeans, MPCKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.metrics import constraint_satisfaction, match_labels
from coterie.plot import plot_clusters

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
    chosen = [name for name in labels if name in ("K-Means (no pairs)", "PCKMeans")]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
    for ax, name in zip(axes, chosen, strict=True):
        mine = in_colours_of(labels[chosen[-1]], labels[name])
        plot_clusters(mine, X, constraints=known, ax=ax, projection="pca")
        broken = constraint_satisfaction(mine, known).n_broken
        ax.set(title=f"{name}: {broken} of {known.n_pairs} pairs broken", xticks=[], yticks=[])
        ax.set(xlabel="", ylabel="")
        ax.get_legend().remove()
    handles, words = axes[0].get_legend_handles_labels()
    lines = slice(len(set(labels[chosen[0]].tolist())), None)  # the sizes of clusters differ
    figure.legend(handles[lines], words[lines], loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
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
