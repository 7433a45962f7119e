"""Conjugate families of TVClust: what the rows of a cluster are drawn from.

Both inference methods see a cluster through its sums ("statistics") alone.
"""

from coterie.mixture.tvclust.families.axes import AxisGaussian
from coterie.mixture.tvclust.families.base import Family, Scores, Separable
from coterie.mixture.tvclust.families.counts import Bernoulli, Multinomial, Poisson
from coterie.mixture.tvclust.families.gaussian import Gaussian, NormalInverseWishart
from coterie.mixture.tvclust.families.tied import TiedGaussian

__all__ = [
    "AxisGaussian",
    "Bernoulli",
    "Family",
    "Gaussian",
    "Multinomial",
    "NormalInverseWishart",
    "Poisson",
    "Scores",
    "Separable",
    "TiedGaussian",
]
