"""
How many clusters?
==================

Held-out pairs say which number of clusters predicts answers best.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from coterie import PCKMeans, choose_n_clusters
from coterie.constraints import sample_pairs

X, y = make_blobs(400, centers=5, cluster_std=1.2, random_state=3)
chosen = choose_n_clusters(
    PCKMeans(random_state=0),
    X,
    constraints=sample_pairs(y, 300, random_state=0),
    candidates=range(2, 10),
)
plt.figure(figsize=(6, 3), layout="constrained")
plt.plot(chosen.candidates, np.asarray(chosen.scores), marker="o")
plt.axvline(chosen.n_clusters, linestyle=":", color="C1")
plt.xlabel("clusters")
plt.ylabel("score of held-out pairs")
plt.show()
