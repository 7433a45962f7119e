"""
Ask the pairs that help
=======================

The same number of answers, drawn at random and chosen by what they would tell.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from coterie import Mosaic
from coterie.active import InformationGain, RandomPairs, learning_curve
from coterie.plot import plot_learning_curve

X, y = make_moons(200, noise=0.1, random_state=0)
budgets, model = [5, 10, 20, 40], Mosaic(2, random_state=0)
curves = {
    name: learning_curve(strategy, model, X, y, budgets, folds=None, repeats=4)
    for name, strategy in (("random pairs", RandomPairs()), ("chosen pairs", InformationGain()))
}
plot_learning_curve(curves)
plt.show()
