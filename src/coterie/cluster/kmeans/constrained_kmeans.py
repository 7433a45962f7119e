"""ConstrainedKMeans: K-Means that keeps the labels it is given (Basu, Banerjee and Mooney 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.cluster.kmeans.seeded_kmeans import SeededKMeans
from coterie.constraints import Constraints

__all__ = ["ConstrainedKMeans"]


class ConstrainedKMeans(SeededKMeans):
    """K-Means that starts from labelled rows and never changes their labels.

    As `SeededKMeans`, but rows with the same label stay together and rows with different labels
    apart, in every iteration; cluster k holds the seeds with the k-th smallest label. Pairs given
    as constraints are kept in the same way. `PCKMeans` with w = inf is its pairwise form.

    Parameters
    ----------
    n_clusters, distortion, n_init, max_iter, tol, random_state, metric
        As in `SeededKMeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConstrainedKMeans
    >>> X = np.array([[0.0], [0.1], [9.0], [9.2]])
    >>> ConstrainedKMeans(2).fit(X, seeds=[0, -1, 1, 0]).labels_.tolist()
    [0, 0, 1, 0]
    """

    w: Any = np.inf
    _keeps_seeds = True

    def _report(self, known: Constraints) -> None:
        """`fit` has published what is broken: nothing."""
