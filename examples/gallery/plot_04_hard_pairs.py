"""
Pairs that must never be broken
===============================

Soft pairs are weighed against the data; hard ones are kept whatever it costs.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import Constraints, PCKMeans
from coterie.plot import plot_clusters

rng = np.random.default_rng(1)
X = np.concatenate([rng.normal(size=(60, 2)), rng.normal([5, 0], size=(60, 2))])
far = Constraints(120, must_link=[(0, 60), (1, 61), (2, 62)])

_, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, known, name in zip(axes, (far, far.as_hard()), ("soft", "hard"), strict=True):
    model = PCKMeans(2, w=0.5, random_state=0).fit(X, constraints=known)
    plot_clusters(model, X, constraints=known, ax=ax)
    ax.set_title(f"{name}: {len(model.violations_)} of {known.n_pairs} pairs broken")
plt.show()
