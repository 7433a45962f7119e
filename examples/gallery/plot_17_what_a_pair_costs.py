"""
What a broken pair costs
========================

PCKMeans weighs pairs against distances. With a small `w` the far ends stay where they lie and the
pairs are broken; with a larger one they are kept, and the centres move.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import Constraints, PCKMeans
from coterie.plot import plot_clusters

rng = np.random.default_rng(2)
X = np.concatenate([rng.normal(size=(60, 2)), rng.normal([6, 0], size=(60, 2))])
near = np.argsort(-X[:60, 0])[:6]  # the rows of the left cloud that reach farthest to the right
known = Constraints(120, must_link=[(int(row), 60 + at) for at, row in enumerate(near)])

_, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, w in zip(axes, (0.5, 8.0), strict=True):
    model = PCKMeans(2, w=w, random_state=0).fit(X, constraints=known)
    plot_clusters(model, X, constraints=known, ax=ax)
    ax.plot(*model.cluster_centers_.T, "*", color="black", markersize=14)
    ax.set_title(f"w = {w:g}: {len(model.violations_)} of {known.n_pairs} pairs broken")
plt.show()
