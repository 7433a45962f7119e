"""Every family of TVClust on a small table, beside its naive twin."""

from __future__ import annotations

import numpy as np

from coterie.mixture.tvclust.families import (
    AxisGaussian,
    Bernoulli,
    Gaussian,
    Multinomial,
    Poisson,
    TiedGaussian,
)
from reference.tvclust import (
    NaiveBernoulli,
    NaiveDiagonal,
    NaiveGaussian,
    NaiveMultinomial,
    NaivePoisson,
    NaiveSpherical,
    NaiveTied,
)

FAMILIES = ["full", "tied", "diag", "spherical", "multinomial", "bernoulli", "poisson"]


def small_table(name, n, seed=0):
    """(X, our family, the naive one)."""
    rng = np.random.default_rng(seed)
    if name == "multinomial":
        X = rng.integers(0, 3, size=(n, 3)).astype(float)
        return X, Multinomial(3, 0.6), NaiveMultinomial(3, 0.6)
    if name == "bernoulli":
        X = (rng.random((n, 4)) < 0.4).astype(float)
        return X, Bernoulli(4, 0.6), NaiveBernoulli(0.6)
    if name == "poisson":
        X = rng.poisson([1.0, 4.0], size=(n, 2)).astype(float)
        typical = np.array([0.8, 3.0])
        return X, Poisson(typical, 0.7), NaivePoisson(typical, 0.7)
    X = rng.normal(size=(n, 2)) * 1.5
    scale = np.array([0.8, 1.2])
    if name == "full":
        return X, Gaussian(scale, 0.5, 4.5), NaiveGaussian(scale, 0.5, 4.5)
    if name == "tied":
        return X, TiedGaussian(scale, 0.5, 4.5), NaiveTied(scale, 0.5, 4.5)
    if name == "diag":
        ours = AxisGaussian(scale, 0.7, 0.5, 3.5, shared=False)
        return X, ours, NaiveDiagonal(scale * 0.7 * 1.5, 0.5, 3.5)
    ours = AxisGaussian(scale, 0.7, 0.5, 3.5, shared=True)
    return X, ours, NaiveSpherical(np.sqrt(scale), 0.7 * 1.5, 0.5, 3.5)


def blurred(family, blur):
    """The same family for rows that are spread by a variance of blur (d,)."""
    if isinstance(family, AxisGaussian):
        variance = family.unit**2
        expected = family.psi0 / (family.nu0 - 2)
        return AxisGaussian(
            variance, expected, family.kappa0, family.nu0, shared=family.shared, blur=blur
        )
    return type(family)(family.prior_scale, family.kappa0, family.nu0, blur)
