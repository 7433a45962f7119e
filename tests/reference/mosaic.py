"""Naive twins of Mosaic's parts: loops, enumeration, and refits for leave-one-out."""

from __future__ import annotations

import itertools

import numpy as np


def cauchy(a, b):
    """1 / (1 + 2 |a - b|^2) of two points."""
    return 1.0 / (1.0 + 2.0 * float(((a - b) ** 2).sum()))


def objective(labels, features, field_weights, weights, penalty, sharpness, pairs, kinds, costs):
    """J(y, W): data fit, geometric prior, broken pairs, term by term."""
    total = 0.0
    for i, label in enumerate(labels):
        target = np.zeros(field_weights.shape[1])
        target[label] = 1.0
        gap = target - field_weights.T @ features[i]
        total += 0.5 * sharpness * weights[i] * float(gap @ gap)
    total += 0.5 * sharpness * penalty * float((field_weights**2).sum())
    for (i, j), kind, cost in zip(pairs, kinds, costs, strict=True):
        if (labels[i] == labels[j]) != (kind > 0):
            total += cost
    return total


def ridge(features, targets, weights, penalty):
    """argmin_W sum_i w_i |t_i - W' z_i|^2 + penalty |W|^2 by stacked least squares."""
    r = features.shape[1]
    root = np.sqrt(weights)[:, None]
    stacked = np.vstack([root * features, np.sqrt(penalty) * np.eye(r)])
    wanted = np.vstack([root * targets, np.zeros((r, targets.shape[1]))])
    return np.linalg.lstsq(stacked, wanted, rcond=None)[0]


def leave_one_out(features, targets, weights, penalty):
    """The field at each row when that row is left out, by refitting."""
    out = np.empty_like(targets)
    for i in range(len(features)):
        kept = weights.copy()
        kept[i] = 0.0
        out[i] = features[i] @ ridge(features, targets, kept, penalty)
    return out


def joint(logits, edges, same, differ):
    """Marginals (s, K) and P(equal ends) (E,) of exp(sum logits - pair costs), by enumeration."""
    s, k = logits.shape
    marginals, equal, total = np.zeros((s, k)), np.zeros(len(edges)), 0.0
    for labels in itertools.product(range(k), repeat=s):
        score = sum(logits[i, label] for i, label in enumerate(labels))
        for e, (i, j) in enumerate(edges):
            score -= same[e] if labels[i] == labels[j] else differ[e]
        chance = np.exp(score)
        total += chance
        for i, label in enumerate(labels):
            marginals[i, label] += chance
        for e, (i, j) in enumerate(edges):
            equal[e] += chance * (labels[i] == labels[j])
    return marginals / total, equal / total


def pair_log_likelihood(logits, edges, same, differ):
    """sum_e log(e^-same P(equal) + e^-differ P(different)) for independent softmax(logits)."""
    chance = np.exp(logits - logits.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    total = 0.0
    for e, (i, j) in enumerate(edges):
        equal = float(chance[i] @ chance[j])
        total += np.log(np.exp(-same[e]) * equal + np.exp(-differ[e]) * (1.0 - equal))
    return total
