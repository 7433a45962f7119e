"""
A few pairs speak for their neighbours
======================================

Ten pairs about two moons. Handed on along the graph of nearest neighbours, they reach as far as
the moons do.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from coterie import GraphPropagation, PCKMeans
from coterie.constraints import sample_pairs
from coterie.plot import plot_clusters

X, y = make_moons(300, noise=0.05, random_state=0)
known = sample_pairs(y, 10, random_state=0)
alone = PCKMeans(2, random_state=0)
spread = GraphPropagation(PCKMeans(2, random_state=0), alpha=0.99, threshold=0.02)

_, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, model in zip(axes, (alone, spread), strict=True):
    plot_clusters(model.fit(X, constraints=known), X, constraints=known, ax=ax)
    ax.set_title(type(model).__name__)
plt.show()
