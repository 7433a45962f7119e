"""
A space in which the clusters are round
=======================================

RCA learns from must-links which directions vary within a cluster, and shrinks them.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import RCA, Constraints

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 80)
X = rng.normal(size=(240, 2)) @ [[6.0, 2.0], [0.0, 0.5]] + np.c_[np.zeros(240), 4.0 * y]
known = Constraints.from_labels(np.where(np.arange(240) % 4 == 0, y, -1))
Z = RCA().fit_transform(X, constraints=known)

_, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for ax, rows, name in zip(axes, (X, Z), ("as measured", "after RCA"), strict=True):
    ax.scatter(*rows.T, c=y, cmap="viridis", s=12)
    ax.set_title(name)
plt.show()
