"""
Pairs that contradict each other
================================

"a is b, b is c, but a is not c": the smallest sets of answers that cannot all be true.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import Constraints
from coterie.plot import plot_clusters

known = Constraints(
    8, must_link=[(0, 1), (1, 2), (3, 4), (4, 5)], cannot_link=[(0, 2), (2, 6), (6, 7)]
)
for conflict in known.conflicts():
    print(conflict)

angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
X = np.c_[np.cos(angles), np.sin(angles)]
ax = plot_clusters(np.zeros(8, dtype=int), X, constraints=known)
ax.set_title("red: broken by putting all rows in one cluster")
plt.show()
