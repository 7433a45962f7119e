"""
The pieces of a mosaic
======================

Mosaic lays many prototypes over the rows (the crosses) and lets the pairs say which of them belong
together. Between them a smooth field says how likely the first cluster is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from coterie import Mosaic
from coterie.constraints import sample_pairs
from coterie.plot import plot_clusters

X, y = make_moons(400, noise=0.07, random_state=0)
known = sample_pairs(y, 60, random_state=0)
model = Mosaic(2, n_prototypes=60, random_state=0).fit(X, constraints=known)

low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
grid = np.stack(np.meshgrid(*np.linspace(low, high, 80).T), axis=-1)
share = model.predict_proba(grid.reshape(-1, 2))[:, 0].reshape(80, 80)

_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
field = ax.contourf(*grid.T, share.T, levels=10, cmap="coolwarm", alpha=0.4)
plt.colorbar(field, label="P(first cluster)")
plot_clusters(model, X, constraints=known, ax=ax)
ax.plot(*model.prototypes_.T, "x", color="black")
ax.set_title(f"{len(model.prototypes_)} prototypes, 60 pairs")
plt.show()
