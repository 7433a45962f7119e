"""
The price of a cluster
======================

DPMeans opens a cluster where that is cheaper than to go on without: each costs λ, here 40, and a
row within the circle around a centre never opens one. RDPMeans listens to pairs as well: strangers
crowd a row out of a cluster that distance alone would leave it in.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import Constraints, DPMeans, RDPMeans
from coterie.plot import plot_clusters

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 30)
X = rng.normal(scale=0.5, size=(90, 2)) + np.array([[0, 0], [1.5, 0], [10, 0]])[y]
known = Constraints(90, cannot_link=[(i, 30 + i) for i in range(25)])
price = 40.0  # squared distance, as everywhere in K-Means

models = {
    "DPMeans": DPMeans(lambda_=price, random_state=0).fit(X),
    "RDPMeans": RDPMeans(lambda_=price, xi_max=None, random_state=0).fit(X, constraints=known),
}
_, axes = plt.subplots(1, 2, figsize=(9, 2.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_clusters(model, X, constraints=known if name == "RDPMeans" else None, ax=ax)
    for center in model.cluster_centers_:
        ax.add_patch(plt.Circle(center, np.sqrt(price), fill=False, color="gray", linestyle=":"))
    ax.set(title=f"{name}: {model.n_clusters_} clusters", xlim=(-7, 17), ylim=(-7, 7))
    ax.set_aspect("equal")
plt.show()
