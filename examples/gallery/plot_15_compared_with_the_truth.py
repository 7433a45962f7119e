"""
Clusters against known classes
==============================

Which true class went into which cluster.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from coterie import Mosaic
from coterie.constraints import sample_pairs
from coterie.plot import plot_confusion

X, y = load_digits(return_X_y=True)
model = Mosaic(10, random_state=0).fit(X, constraints=sample_pairs(y, 600, random_state=0))
plot_confusion(model, y)
plt.show()
