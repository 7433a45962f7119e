"""
Clusters of any shape
=====================

Mosaic covers each cluster with many small pieces that pairs join.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from coterie import Mosaic, PCKMeans
from coterie.constraints import sample_pairs
from coterie.plot import plot_clusters

X, y = make_moons(400, noise=0.07, random_state=0)
known = sample_pairs(y, 60, random_state=0)
_, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, model in zip(axes, (PCKMeans(2, random_state=0), Mosaic(2, random_state=0)), strict=True):
    plot_clusters(model.fit(X, constraints=known), X, constraints=known, ax=ax)
    ax.set_title(type(model).__name__)
plt.show()
