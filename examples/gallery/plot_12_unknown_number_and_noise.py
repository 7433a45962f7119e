"""
K unknown, answers doubtful
===========================

TVClust estimates the number of clusters and how often answers are right, at the same time.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from coterie import Constraints, TVClust
from coterie.constraints import sample_pairs
from coterie.plot import plot_clusters

X, y = make_blobs(300, centers=4, cluster_std=1.0, random_state=0)
told = sample_pairs(y, 200, random_state=0)
wrong = np.arange(told.n_pairs) % 5 == 0
known = Constraints.from_arrays(300, told.pairs, np.where(wrong, -told.kind, told.kind))
model = TVClust(random_state=0).fit(X, constraints=known)
ax = plot_clusters(model, X, constraints=known, max_pairs=60)
ax.set_title(f"{model.n_clusters_} of 4 clusters; one answer in five was wrong")
plt.show()
print(f"told that they belong together: {model.p_:.0%} of those that do, ", end="")
print(f"{1 - model.q_:.0%} of those that do not")
