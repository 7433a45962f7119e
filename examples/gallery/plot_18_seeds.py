"""
Labelled rows as seeds
======================

A few rows have a label, and one of them a wrong one. SeededKMeans starts from them and then goes by
distances, so the wrong one is put right; ConstrainedKMeans keeps every label as it was given.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from coterie import ConstrainedKMeans, SeededKMeans
from coterie.plot import plot_clusters

X, y = make_blobs(240, centers=[[0, 0], [4, 0], [2, 3]], cluster_std=0.9, random_state=0)
seeds = np.full(240, -1)
seeds[::20] = y[::20]
seeds[0] = (y[0] + 1) % 3  # the wrong one

_, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, Model in zip(axes, (SeededKMeans, ConstrainedKMeans), strict=True):
    model = Model(3, random_state=0).fit(X, seeds=seeds)
    plot_clusters(model, X, ax=ax)
    ax.plot(*X[seeds >= 0].T, "o", mfc="none", mec="black", markersize=9)
    ax.plot(*X[0], "s", mfc="none", mec="red", markersize=14)
    ax.set_title(Model.__name__)
plt.show()
