"""
Pairs change clusters
=====================

Two long clusters lie side by side. K-Means cuts both in half; a few pairs say which half belongs
to which.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from coterie import MPCKMeans
from coterie.constraints import sample_pairs
from coterie.plot import plot_clusters

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 150)
X = rng.normal(size=(300, 2)) * [4.0, 0.5] + np.c_[np.zeros(300), 3.0 * y]
known = sample_pairs(y, 20, random_state=0)

plain = KMeans(2, n_init=10, random_state=0).fit(X)
told = MPCKMeans(2, random_state=0).fit(X, constraints=known)

_, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
plot_clusters(plain.labels_, X, constraints=known, ax=left)
left.set_title("K-Means")
plot_clusters(told, X, constraints=known, ax=right)
right.set_title("MPCKMeans with 20 pairs")
plt.show()
