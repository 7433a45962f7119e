"""
Which of my answers are wrong?
==============================

One pair in ten is wrong. Mosaic estimates how many are, and says which it doubts most.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from coterie import Constraints, Mosaic
from coterie.constraints import sample_pairs

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
right = sample_pairs(y, 120, random_state=0)
wrong = np.arange(right.n_pairs) % 10 == 0
known = Constraints.from_arrays(len(X), right.pairs, np.where(wrong, -right.kind, right.kind))

model = Mosaic(3, random_state=0).fit(X, constraints=known)
doubted = model.suspect_pairs(known.n_pairs)
lied_about = {tuple(sorted(pair)) for pair in known.pairs[wrong].tolist()}
is_wrong = [
    tuple(sorted(pair)) in lied_about
    for pair in zip(doubted.i.tolist(), doubted.j.tolist(), strict=True)
]

plt.figure(figsize=(8, 3), layout="constrained")
plt.bar(range(len(doubted)), doubted.value, color=["C3" if bad else "C0" for bad in is_wrong])
plt.xlabel("pairs, most doubtful first (red: really wrong)")
plt.ylabel("P(wrong)")
plt.show()
