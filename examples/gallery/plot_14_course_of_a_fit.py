"""
The objective never rises
=========================

Every step of every estimator of the K-Means family lowers one objective, pairs included.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from coterie import HMRFKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.plot import plot_objective

X, y = load_digits(return_X_y=True)
known = sample_pairs(y, 500, random_state=0)
_, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for ax, model in zip(
    axes, (PCKMeans(10, random_state=0), HMRFKMeans(10, random_state=0)), strict=True
):
    plot_objective(model.fit(X, constraints=known), ax=ax)
plt.show()
