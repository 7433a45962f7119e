"""How far is a row from a centre, and two rows from each other; parameters that can be learned.

Numbers in brackets, as (3.15), are equations of Basu et al. (2006).
"""

from coterie.distortions.base import CenterTerms, Distortion
from coterie.distortions.bregman import Bregman, ItakuraSaito, SeparableBregman
from coterie.distortions.directional import Correlation, Cosine
from coterie.distortions.divergence import IDivergence, KLDivergence
from coterie.distortions.euclidean import SquaredEuclidean
from coterie.distortions.mahalanobis import Mahalanobis
from coterie.distortions.registry import DISTORTIONS, get_distortion

__all__ = [
    "DISTORTIONS",
    "Bregman",
    "CenterTerms",
    "Correlation",
    "Cosine",
    "Distortion",
    "IDivergence",
    "ItakuraSaito",
    "KLDivergence",
    "Mahalanobis",
    "SeparableBregman",
    "SquaredEuclidean",
    "get_distortion",
]
