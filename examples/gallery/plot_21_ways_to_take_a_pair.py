"""
Three ways to take a pair
=========================

The same rows and the same five pairs, which go against the distances. COPKMeans keeps all of them.
ConstrainedCompleteLink does too, and a must-link draws the surroundings of its ends together. LCVQE
has no weight to choose: what breaking a pair costs is how far it would pull the centres.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import LCVQE, ConstrainedCompleteLink, Constraints, COPKMeans
from coterie.plot import plot_clusters

rng = np.random.default_rng(3)
X = np.concatenate([rng.normal(size=(60, 2)), rng.normal([5, 0], size=(60, 2))])
known = Constraints(120, must_link=[(0, 60), (1, 61), (2, 62)], cannot_link=[(10, 11), (70, 71)])

_, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
for ax, model in zip(
    axes,
    (COPKMeans(2, random_state=0), ConstrainedCompleteLink(2), LCVQE(2, random_state=0)),
    strict=True,
):
    hard = not isinstance(model, LCVQE)
    model.fit(X, constraints=known.as_hard() if hard else known)
    plot_clusters(model, X, constraints=known, ax=ax)
    ax.set_title(f"{type(model).__name__}: {len(model.violations_)} of 5 broken")
plt.show()
