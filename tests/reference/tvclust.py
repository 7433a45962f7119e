"""TVClust from its definition, one row and one pair at a time: the naive twin."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaln, digamma, gammaln, multigammaln
from scipy.stats import multivariate_t, nbinom


class NaiveGaussian:
    """Normal-inverse-Wishart with prior mean 0 and a diagonal prior scale."""

    def __init__(self, prior_scale, kappa0, nu0):
        self.psi0, self.kappa0, self.nu0 = np.diag(prior_scale), kappa0, nu0

    def posterior(self, rows):
        n = len(rows)
        if n == 0:
            return self.kappa0, self.nu0, np.zeros(len(self.psi0)), self.psi0
        mean = rows.mean(axis=0)
        kappa = self.kappa0 + n
        scatter = (rows - mean).T @ (rows - mean)
        between = self.kappa0 * n / kappa * np.outer(mean, mean)
        return kappa, self.nu0 + n, n * mean / kappa, self.psi0 + scatter + between

    def log_predictive(self, x, rows):
        kappa, nu, mean, psi = self.posterior(rows)
        freedom = nu - len(x) + 1
        shape = psi * (kappa + 1) / (kappa * freedom)
        return float(multivariate_t.logpdf(x, mean, shape, freedom))

    def log_marginal(self, rows):
        """By the chain rule: each row given the rows before it."""
        return sum(self.log_predictive(rows[i], rows[:i]) for i in range(len(rows)))

    def rows_term(self, X, resp):
        """E ln p(X | z, parameters) - KL of the parameters' factors, for resp (n, K)."""
        total = 0.0
        for weights in resp.T:
            kappa, nu = self.kappa0 + weights.sum(), self.nu0 + weights.sum()
            mean = weights @ X / kappa
            psi = self.psi0 + (weights[:, None] * X).T @ X - kappa * np.outer(mean, mean)
            total -= _kl_wishart(self, kappa, nu, mean, psi)
            for x, weight in zip(X, weights, strict=True):
                total += weight * _expected_log_gaussian(x, kappa, nu, mean, psi)
        return total


class NaiveDiagonal:
    """Every column a Gaussian of its own, with the scale psi of its prior."""

    def __init__(self, psi, kappa0, nu0):
        self.columns = [NaiveGaussian([one], kappa0, nu0) for one in psi]

    def log_marginal(self, rows):
        return sum(c.log_marginal(rows[:, [m]]) for m, c in enumerate(self.columns))

    def rows_term(self, X, resp):
        return sum(c.rows_term(X[:, [m]], resp) for m, c in enumerate(self.columns))


class NaiveSpherical:
    """One variance, relative to unit^2, for all columns: Gamma(nu / 2, psi / 2) of 1 / variance."""

    def __init__(self, unit, psi0, kappa0, nu0):
        self.unit, self.psi0, self.kappa0, self.nu0 = np.asarray(unit), psi0, kappa0, nu0

    def posterior(self, Y, weights):
        n, d = weights.sum(), Y.shape[1]
        kappa = self.kappa0 + n
        mean = weights @ Y / kappa
        psi = self.psi0 + (weights @ Y**2 - kappa * mean**2).sum()
        return kappa, self.nu0 + d * n, mean, psi

    def log_marginal(self, rows):
        """By the chain rule, with scipy's multivariate t."""
        Y, total = rows / self.unit, 0.0
        for i, y in enumerate(Y):
            kappa, nu, mean, psi = self.posterior(Y[:i], np.ones(i))
            shape = np.eye(len(y)) * psi / nu * (kappa + 1) / kappa
            total += multivariate_t.logpdf(y, mean, shape, nu) - np.log(self.unit).sum()
        return total

    def rows_term(self, X, resp):
        Y, d, total = X / self.unit, X.shape[1], 0.0
        for weights in resp.T:
            kappa, nu, mean, psi = self.posterior(Y, weights)
            precision, log_precision = nu / psi, digamma(nu / 2) - math.log(psi / 2)
            total -= _kl_gamma(nu / 2, psi / 2, self.nu0 / 2, self.psi0 / 2)
            ratio = self.kappa0 / kappa
            total -= 0.5 * d * (ratio - 1 - math.log(ratio))
            total -= 0.5 * self.kappa0 * precision * (mean @ mean)
            for y, weight in zip(Y, weights, strict=True):
                squared = d / kappa + precision * ((y - mean) ** 2).sum()
                log_n = 0.5 * (d * log_precision - d * math.log(2 * math.pi) - squared)
                total += weight * (log_n - np.log(self.unit).sum())
        return total


class NaiveTied(NaiveGaussian):
    """One covariance for all clusters: rows of a partition have one joint density."""

    def log_joint_rows(self, X, labels):
        """By the chain rule: each row given those before it, of all clusters."""
        return sum(self._log_next(X[:i], labels[:i], X[i], labels[i]) for i in range(len(X)))

    def _shared(self, X, labels):
        psi, mean, kappa = self.psi0.copy(), {}, {}
        for k in set(labels):
            rows = X[[other == k for other in labels]]
            kappa[k], _, mean[k], own = self.posterior(rows)
            psi = psi + own - self.psi0
        return psi, mean, kappa

    def _log_next(self, X, labels, x, k):
        psi, mean, kappa = self._shared(X, list(labels))
        own_kappa, own_mean = kappa.get(k, self.kappa0), mean.get(k, np.zeros(len(x)))
        freedom = self.nu0 + len(X) - len(x) + 1
        shape = psi * (own_kappa + 1) / (own_kappa * freedom)
        return float(multivariate_t.logpdf(x, own_mean, shape, freedom))

    def rows_term(self, X, resp):
        kappa = self.kappa0 + resp.sum(axis=0)
        mean = resp.T @ X / kappa[:, None]
        nu = self.nu0 + resp.sum()
        psi = self.psi0 + (resp.sum(axis=1)[:, None] * X).T @ X - (kappa * mean.T) @ mean
        # One Wishart factor: that of a cluster whose mean is known to be the prior's.
        total = -_kl_wishart(self, self.kappa0, nu, np.zeros(X.shape[1]), psi)
        expected = nu * np.linalg.inv(psi)
        for weights, own, m in zip(resp.T, kappa, mean, strict=True):
            ratio = self.kappa0 / own
            total -= 0.5 * len(m) * (ratio - 1 - math.log(ratio))
            total -= 0.5 * self.kappa0 * (m @ expected @ m)
            for x, weight in zip(X, weights, strict=True):
                total += weight * _expected_log_gaussian(x, own, nu, m, psi)
        return total


class NaiveBernoulli:
    """Columns of 0 and 1 as urns: theta ~ Beta(c, c)."""

    def __init__(self, c):
        self.c = c

    def log_marginal(self, rows):
        total = 0.0
        for i, x in enumerate(rows):
            share = (self.c + rows[:i].sum(axis=0)) / (2 * self.c + i)
            total += np.log(np.where(x == 1, share, 1 - share)).sum()
        return total

    def rows_term(self, X, resp):
        total = 0.0
        for weights in resp.T:
            a, b = self.c + weights @ X, self.c + weights @ (1 - X)
            total -= sum(_kl_beta(u, v, self.c, self.c) for u, v in zip(a, b, strict=True))
            logs = X * digamma(a) + (1 - X) * digamma(b) - digamma(a + b)
            total += weights @ logs.sum(axis=1)
        return total


class NaivePoisson:
    """Counts with a rate ~ Gamma(c, c / typical) in each column; x! left out."""

    def __init__(self, typical, c):
        self.c, self.rates = c, c / np.asarray(typical)

    def log_marginal(self, rows):
        total = 0.0
        for i, x in enumerate(rows):
            shape, rate = self.c + rows[:i].sum(axis=0), self.rates + i
            total += (nbinom.logpmf(x, shape, rate / (rate + 1)) + gammaln(x + 1)).sum()
        return total

    def rows_term(self, X, resp):
        total = 0.0
        for weights in resp.T:
            shape, rate = self.c + weights @ X, self.rates + weights.sum()
            for m in range(X.shape[1]):
                total -= _kl_gamma(shape[m], rate[m], self.c, self.rates[m])
            logs = X * (digamma(shape) - np.log(rate)) - shape / rate
            total += weights @ logs.sum(axis=1)
        return total


class NaiveMultinomial:
    """Dirichlet-multinomial, tokens drawn one by one."""

    def __init__(self, n_columns, concentration):
        self.d, self.beta = n_columns, concentration

    def log_marginal(self, rows):
        counts = np.full(self.d, self.beta)
        total = 0.0
        for x in rows:
            for m, times in enumerate(x):
                for _ in range(int(times)):
                    total += math.log(counts[m] / counts.sum())
                    counts[m] += 1
        return total

    def rows_term(self, X, resp):
        total = 0.0
        for weights in resp.T:
            counts = self.beta + weights @ X
            prior = np.full(self.d, self.beta)
            logs = digamma(counts) - digamma(counts.sum())
            total -= gammaln(counts.sum()) - gammaln(counts).sum()
            total += gammaln(prior.sum()) - gammaln(prior).sum()
            total -= ((counts - prior) * logs).sum()
            total += weights @ (X @ logs)
        return total


def log_answer(kind, together, p, q):
    """(8): the log-probability of one answer."""
    if together:
        return math.log(p) if kind > 0 else math.log(1 - p)
    return math.log(1 - q) if kind > 0 else math.log(q)


def log_joint(family, X, pairs, labels, p, q, alpha):
    """ln p(rows, answers, partition); pairs are (i, j, kind, weight, certainty or None)."""
    total = 0.0
    seated = []
    for k in labels:  # Chinese restaurant, row by row
        here = sum(1 for other in seated if other == k)
        total += math.log((here if here else alpha) / (len(seated) + alpha))
        seated.append(k)
    labels = np.asarray(labels)
    if hasattr(family, "log_joint_rows"):
        total += family.log_joint_rows(X, labels.tolist())
    else:
        total += sum(family.log_marginal(X[labels == k]) for k in set(labels.tolist()))
    for i, j, kind, weight, certainty in pairs:
        own_p, own_q = (p, q) if certainty is None else (certainty, certainty)
        together = labels[i] == labels[j]
        if math.isinf(weight):
            if together != (kind > 0):
                return -math.inf
            continue
        total += weight * log_answer(kind, together, own_p, own_q)
    return total


def partitions(n):
    """All partitions of n rows, as label tuples numbered by first appearance."""

    def grow(labels, top):
        if len(labels) == n:
            yield tuple(labels)
            return
        for k in range(top + 1):
            yield from grow([*labels, k], max(top, k + 1))

    yield from grow([0], 1)


def naive_sweep(family, X, friends, strangers, labels, p, q, alpha, rng, rows=None):
    """One Gibbs sweep in plain Python, the table weights of (11); changes `labels`."""
    for i in range(len(X)) if rows is None else rows:
        labels[i] = -1
        tables = sorted(set(labels[labels >= 0].tolist()))
        weights = []
        for k in tables:
            seated = X[labels == k]
            f = sum(1 for j in friends[i] if labels[j] == k)
            s = sum(1 for j in strangers[i] if labels[j] == k)
            odds = f * math.log(p / (1 - q)) + s * math.log((1 - p) / q)
            weights.append(math.log(len(seated)) + family.log_predictive(X[i], seated) + odds)
        weights.append(math.log(alpha) + family.log_predictive(X[i], X[:0]))
        shares = np.exp(np.array(weights) - max(weights))
        chosen = rng.choice(len(shares), p=shares / shares.sum())
        labels[i] = tables[chosen] if chosen < len(tables) else max(tables, default=-1) + 1


def _expected_log_gaussian(x, kappa, nu, mean, psi):
    d = len(x)
    log_det = sum(digamma((nu - m) / 2) for m in range(d)) + d * math.log(2)
    log_det -= np.linalg.slogdet(psi)[1]
    gap = x - mean
    squared = nu * gap @ np.linalg.solve(psi, gap)
    return 0.5 * (log_det - d * math.log(2 * math.pi) - d / kappa - squared)


def _kl_wishart(family, kappa, nu, mean, psi):
    """KL of the posterior Normal-Wishart factor from the prior, term by term."""
    d, psi0, kappa0, nu0 = len(mean), family.psi0, family.kappa0, family.nu0
    log_lambda = sum(digamma((nu - m) / 2) for m in range(d)) + d * math.log(2)
    log_lambda -= np.linalg.slogdet(psi)[1]
    expected_lambda = nu * np.linalg.inv(psi)

    def log_norm(df, scale):
        _, log_det = np.linalg.slogdet(scale)
        return 0.5 * df * log_det - 0.5 * df * d * math.log(2) - multigammaln(0.5 * df, d)

    q_lambda = log_norm(nu, psi) + 0.5 * (nu - d - 1) * log_lambda - 0.5 * nu * d
    p_lambda = log_norm(nu0, psi0) + 0.5 * (nu0 - d - 1) * log_lambda
    p_lambda -= 0.5 * np.trace(psi0 @ expected_lambda)
    two_pi = math.log(2 * math.pi)
    q_mu = 0.5 * (d * math.log(kappa) - d * two_pi + log_lambda - d)
    squared = d / kappa + mean @ expected_lambda @ mean
    p_mu = 0.5 * (d * math.log(kappa0) - d * two_pi + log_lambda - kappa0 * squared)
    return q_lambda + q_mu - p_lambda - p_mu


def _kl_gamma(shape, rate, shape0, rate0):
    """KL of Gamma(shape, rate) from Gamma(shape0, rate0)."""
    kl = (shape - shape0) * digamma(shape) - gammaln(shape) + gammaln(shape0)
    return kl + shape0 * (math.log(rate) - math.log(rate0)) + shape * (rate0 - rate) / rate


def _kl_beta(a, b, a0, b0):
    both = digamma(a + b)
    kl = betaln(a0, b0) - betaln(a, b)
    return kl + (a - a0) * (digamma(a) - both) + (b - b0) * (digamma(b) - both)


def naive_bound(family, X, pairs, resp, sticks, p, q, alpha, p_prior, q_prior, alpha_prior=None):
    """E_q[ln joint - ln q] with every expectation written out.

    resp (n, T) of the rows; sticks a list of (a, b); p, q as (a, b); alpha a number, or the
    (shape, rate) of its factor where `alpha_prior` is given.
    """
    truncation = resp.shape[1]
    log_v = [digamma(a) - digamma(a + b) for a, b in sticks] + [0.0]
    log_rest = [digamma(b) - digamma(a + b) for a, b in sticks]
    if alpha_prior is None:
        mean_alpha, mean_log_alpha = alpha, math.log(alpha)
        total = 0.0
    else:
        (shape, rate), (shape0, rate0) = alpha, alpha_prior
        mean_alpha, mean_log_alpha = shape / rate, digamma(shape) - math.log(rate)
        prior = shape0 * math.log(rate0) - gammaln(shape0)
        prior += (shape0 - 1) * mean_log_alpha - rate0 * mean_alpha
        own = shape * math.log(rate) - gammaln(shape)
        own += (shape - 1) * mean_log_alpha - rate * mean_alpha
        total = prior - own
    total += family.rows_term(X, resp)
    for k in range(truncation):
        log_pi = log_v[k] + sum(log_rest[:k])
        for r in resp[:, k]:
            if r > 0:
                total += r * (log_pi - math.log(r))
    for (a, b), lv, lr in zip(sticks, log_v, log_rest, strict=False):
        total += mean_log_alpha + (mean_alpha - 1) * lr
        total -= (a - 1) * lv + (b - 1) * lr - betaln(a, b)
    logs = [digamma(p[0]), digamma(p[1]), digamma(q[0]), digamma(q[1])]
    logs = [value - digamma(sum(p if m < 2 else q)) for m, value in enumerate(logs)]
    for i, j, kind, weight, certainty in pairs:
        together = float(resp[i] @ resp[j])
        if certainty is None:
            same, apart = (logs[0], logs[3]) if kind > 0 else (logs[1], logs[2])
        else:
            right, wrong = math.log(certainty), math.log(1 - certainty)
            same, apart = (right, wrong) if kind > 0 else (wrong, right)
        total += weight * (together * same + (1 - together) * apart)
    return total - _kl_beta(*p, *p_prior) - _kl_beta(*q, *q_prior)
