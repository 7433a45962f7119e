"""
How far a pair reaches
======================

GPKMeans hands every pair on to the rows around its two ends: the weight falls as a Gaussian of the
distance, in the metric that the clusters have learned.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import Constraints, GPKMeans, MPCKMeans

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(150, 2)), rng.normal([5, 1], size=(150, 2))])
X *= [1.0, 2.0]
known = Constraints(300, must_link=[(0, 1)], cannot_link=[(0, 150), (1, 151)])
model = GPKMeans(MPCKMeans(2, random_state=0), threshold=0.2).fit(X, constraints=known)
spread = model.propagated_constraints_

weight = np.zeros(300)  # of the strongest pair that each row is in now
np.maximum.at(weight, spread.pairs, spread.weight[:, None])
_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
dots = ax.scatter(*X.T, c=weight, cmap="viridis", s=18)
plt.colorbar(dots, label="weight of a row's strongest pair")
for kind, style in (("must_link", "-"), ("cannot_link", "--")):
    for i, j in getattr(known, kind):
        ax.plot(*X[[i, j]].T, style, color="red", linewidth=2)
ax.set_title(f"{known.n_pairs} pairs became {spread.n_pairs}")
plt.show()
