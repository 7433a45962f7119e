"""Naive twin of PPC: everything by enumerating all K^n assignments (Lu and Leen, 2.2-2.13)."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.stats import multivariate_normal


def g_of(y, pairs, kind, strength):
    """g(Z): e^−w for every broken pair, 0 for a broken hard one."""
    out = 1.0
    for (i, j), k, w in zip(pairs, kind, strength, strict=True):
        if (y[i] == y[j]) != (k > 0):
            out *= math.exp(-w)
    return out


def groups_of(n, pairs, kind, hard):
    """Groups joined by hard must-links, as lists of rows."""
    group = list(range(n))
    for (i, j), k, h in zip(pairs, kind, hard, strict=True):
        if k > 0 and h:
            old, new = group[j], group[i]
            group = [new if g == old else g for g in group]
    return [[i for i in range(n) if group[i] == g] for g in sorted(set(group))]


def naive_ppc(log_likelihood, pi, pairs, kind, strength, sampling="point"):
    """log P(X, G) + log Ω, log Ω, ∂log Ω/∂log π, posteriors (n, K) and P(same) of each pair.

    `log_likelihood` (n, K) is log p(x_i | cluster k). With sampling="chunklet" a group joined by
    hard must-links draws its cluster once.
    """
    n, k = np.shape(log_likelihood)
    groups = groups_of(n, pairs, kind, np.isinf(strength))
    joint, omega = 0.0, 0.0
    expected = np.zeros(k)
    posterior, together = np.zeros((n, k)), np.zeros(len(pairs))
    shift = max(np.sum(np.max(log_likelihood, axis=1)), -700.0)
    for y in itertools.product(range(k), repeat=n):
        weight = g_of(y, pairs, kind, strength)
        if weight == 0.0:
            continue
        drawn = [y[g[0]] for g in groups] if sampling == "chunklet" else list(y)
        prior = weight * math.prod(pi[z] for z in drawn)
        omega += prior
        for z in drawn:
            expected[z] += prior
        p = prior * math.exp(sum(log_likelihood[i][y[i]] for i in range(n)) - shift)
        joint += p
        for i in range(n):
            posterior[i, y[i]] += p
        for e, (i, j) in enumerate(pairs):
            together[e] += p * (y[i] == y[j])
    return (
        math.log(joint) + shift,
        math.log(omega),
        expected / omega,
        posterior / joint,
        together / joint,
    )


def cluster_log_likelihood(X, weights, means, covariances, per_cluster):
    """log p(x | cluster), (n, K), of clusters made of `per_cluster` full-covariance Gaussians."""
    density = np.stack(
        [multivariate_normal(m, c).pdf(X) for m, c in zip(means, covariances, strict=True)], axis=1
    ).reshape(len(X), len(weights))
    joint = (density * weights).reshape(len(X), -1, per_cluster).sum(axis=2)
    return np.log(joint / np.reshape(weights, (-1, per_cluster)).sum(axis=1))


def naive_gap_step(X, weights, means, covariances):
    """One EM step of a full mixture on rows with gaps, row by row.

    Weights (G,), means (G, d), scatters (G, d, d) about them, and log-density (n,) before the step.
    """
    n, d = X.shape
    G = len(weights)
    log_joint = np.zeros((n, G))
    filled, left = np.zeros((n, G, d)), np.zeros((n, G, d, d))
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        for g in range(G):
            mean, sigma = means[g], covariances[g]
            log_joint[i, g] = math.log(weights[g])
            filled[i, g] = mean
            left[i, g] = sigma
            if o.any():
                density = multivariate_normal(mean[o], sigma[np.ix_(o, o)], allow_singular=True)
                log_joint[i, g] += density.logpdf(row[o])
                gain = sigma[:, o] @ np.linalg.inv(sigma[np.ix_(o, o)])
                filled[i, g] = mean + gain @ (row[o] - mean[o])
                filled[i, g, o] = row[o]
                left[i, g] = sigma - gain @ sigma[o, :]
    log_density = np.logaddexp.reduce(log_joint, axis=1)
    resp = np.exp(log_joint - log_density[:, None])
    counts = resp.sum(axis=0)
    new = np.einsum("ng,ngd->gd", resp, filled) / counts[:, None]
    diff = filled - new
    scatter = np.einsum("ng,ngd,nge->gde", resp, diff, diff)
    scatter += np.einsum("ng,ngde->gde", resp, left)
    return counts / n, new, scatter / counts[:, None, None], log_density
