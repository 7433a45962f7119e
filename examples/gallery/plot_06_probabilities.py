"""
How sure is it?
===============

PPC is a Gaussian mixture that listens to pairs: every row has a probability for each cluster, and
pairs move it.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import PPC, Constraints

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(100, 2)), rng.normal([2.5, 0], size=(100, 2))])
known = Constraints(200, cannot_link=[(i, i + 100) for i in range(30)])
model = PPC(2, random_state=0).fit(X, constraints=known)

plt.figure(figsize=(6, 4), layout="constrained")
plt.scatter(*X.T, c=model.predict_proba(X)[:, 0], cmap="coolwarm", edgecolor="k", linewidth=0.3)
plt.colorbar(label="P(first cluster)")
plt.show()
