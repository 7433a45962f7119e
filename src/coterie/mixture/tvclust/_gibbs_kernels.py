"""Compiled Gibbs sweep of full-covariance Gaussians; see `_seating_kernels`."""

# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from coterie.mixture.tvclust._seating_kernels import draw, first_slots, seating_weights


class GaussianNodes(NamedTuple):
    """Rows of the nodes."""

    X: Any  # (n, d) float64
    ptr: Any  # (nodes + 1,) int64
    members: Any  # (n,) int64


class GaussianPrior(NamedTuple):
    """A slot without rows, and what depends on the number of rows alone."""

    kappa: float
    nu: float
    chol: Any  # (d, d) lower factor of the scale matrix
    log_det: float  # of the scale matrix
    constants: Any  # (n + 1,) of the predictive density given that many rows


class GaussianSlots(NamedTuple):
    """Clusters: number of rows, mean, and scale matrix as its Cholesky factor."""

    counts: Any  # (C,) int64
    means: Any  # (C, d)
    chols: Any  # (C, d, d)
    log_dets: Any  # (C,)
    work: Any  # (d,) scratch


@njit(cache=True, nogil=True)
def clear_slot(slots, slot, prior):
    """Back to the prior exactly, whatever rounding left."""
    slots.counts[slot] = 0
    slots.log_dets[slot] = prior.log_det
    for m in range(prior.chol.shape[0]):
        slots.means[slot, m] = 0.0
        for j in range(prior.chol.shape[0]):
            slots.chols[slot, m, j] = prior.chol[m, j]


@njit(cache=True, nogil=True)
def empty_slots(n_slots, prior):
    """Slots without rows."""
    d = prior.chol.shape[0]
    slots = GaussianSlots(
        np.empty(n_slots, dtype=np.int64),
        np.empty((n_slots, d)),
        np.empty((n_slots, d, d)),
        np.empty(n_slots),
        np.empty(d),
    )
    for k in range(n_slots):
        clear_slot(slots, k, prior)
    return slots


@njit(cache=True, nogil=True)
def copy_slot(source, k, target, at):
    """Make slot `at` of `target` like slot `k` of `source`."""
    target.counts[at] = source.counts[k]
    target.log_dets[at] = source.log_dets[k]
    for m in range(source.means.shape[1]):
        target.means[at, m] = source.means[k, m]
        for j in range(source.means.shape[1]):
            target.chols[at, m, j] = source.chols[k, m, j]


@njit(cache=True, nogil=True)
def rank_one(chol, v, sign):  # IN OUT chol (d, d) lower; WORK v (d,)
    """chol of L L' + sign v v'; returns the new ln det of L L'."""
    d = v.shape[0]
    log_det = 0.0
    for k in range(d):
        old = chol[k, k]
        squared = old * old + sign * v[k] * v[k]
        # A downdate undoes an earlier update: only rounding could bring it to zero.
        new = math.sqrt(max(squared, 1e-14 * old * old))
        c, s = new / old, v[k] / old
        chol[k, k] = new
        for i in range(k + 1, d):
            chol[i, k] = (chol[i, k] + sign * s * v[i]) / c
            v[i] = c * v[i] - s * chol[i, k]
        log_det += 2.0 * math.log(new)
    return log_det


@njit(cache=True, nogil=True)
def add_row(x, kappa0, slots, slot):
    """Let a row join a slot: mean, scale matrix and count."""
    mean, work = slots.means[slot], slots.work
    kappa = kappa0 + slots.counts[slot]
    shrink = math.sqrt(kappa / (kappa + 1.0))
    for m in range(x.shape[0]):
        gap = x[m] - mean[m]
        work[m] = shrink * gap
        mean[m] += gap / (kappa + 1.0)
    slots.log_dets[slot] = rank_one(slots.chols[slot], work, 1.0)
    slots.counts[slot] += 1


@njit(cache=True, nogil=True)
def remove_row(x, kappa0, slots, slot):
    """The opposite of `add_row`."""
    mean, work = slots.means[slot], slots.work
    kappa = kappa0 + slots.counts[slot] - 1.0
    shrink = math.sqrt(kappa / (kappa + 1.0))
    for m in range(x.shape[0]):
        mean[m] -= (x[m] - mean[m]) / kappa
        work[m] = shrink * (x[m] - mean[m])
    slots.log_dets[slot] = rank_one(slots.chols[slot], work, -1.0)
    slots.counts[slot] -= 1


@njit(cache=True, nogil=True)
def whitened_length(x, mean, chol, work):  # WORK work (d,)
    """|x - mean|^2 by the inverse of L L', with chol (d, d) L."""
    squared = 0.0
    for m in range(x.shape[0]):  # forward substitution
        value = x[m] - mean[m]
        for j in range(m):
            value -= chol[m, j] * work[j]
        work[m] = value / chol[m, m]
        squared += work[m] * work[m]
    return squared


@njit(cache=True, nogil=True)
def log_student(prior, count, log_det, squared):
    """ln of the density of a row given `count` rows with scale matrix Psi, a Student t.

    constants[N] + (-ln|Psi| - (nu + 1) ln(1 + kappa/(kappa + 1) |x - m|^2_inv(Psi))) / 2.
    """
    kappa, nu = prior.kappa + count, prior.nu + count
    spread = math.log1p(kappa / (kappa + 1.0) * squared)
    return prior.constants[count] - 0.5 * log_det - 0.5 * (nu + 1.0) * spread


@njit(cache=True, nogil=True)
def add_predictives(x, prior, slots, log_weights):
    """Add ln p(x | rows of the slot) for every slot that is open to the row."""
    # IN OUT: log_weights (C,)
    counts, means, chols, log_dets, work = slots
    for k in range(log_weights.shape[0]):
        if log_weights[k] != -np.inf:
            squared = whitened_length(x, means[k], chols[k], work)
            log_weights[k] += log_student(prior, counts[k], log_dets[k], squared)


@njit(cache=True, nogil=True)
def add_joint_predictives(node, nodes, prior, slots, spare, log_weights):
    """`add_predictives` for the rows of a node, each given those before it (chain rule)."""
    # WORK: spare, one slot   IN OUT: log_weights (C,)
    only = spare.counts.shape[0] - 1  # no literal, for which kernels would be compiled again
    for k in range(log_weights.shape[0]):
        if log_weights[k] == -np.inf:
            continue
        copy_slot(slots, k, spare, only)
        for a in range(nodes.ptr[node], nodes.ptr[node + 1]):
            x = nodes.X[nodes.members[a]]
            add_predictives(x, prior, spare, log_weights[k : k + 1])
            add_row(x, prior.kappa, spare, only)


@njit(cache=True, nogil=True)
def more_slots(slots, prior):
    """Twice as many slots, the new ones empty."""
    n_slots = slots.counts.shape[0]
    wider = empty_slots(2 * n_slots, prior)
    for k in range(n_slots):
        copy_slot(slots, k, wider, k)
    return wider


@njit(cache=True, nogil=True)
def sweep_gaussian(nodes, prior, seating, labels):
    """One sweep over all nodes in the given order."""
    # IN: GaussianNodes, GaussianPrior, Seating
    # IN OUT: labels (nodes,) slots
    slots = empty_slots(first_slots(labels), prior)
    spare = GaussianSlots(
        slots.counts[:1].copy(),
        slots.means[:1].copy(),
        slots.chols[:1].copy(),
        slots.log_dets[:1].copy(),
        slots.work,
    )
    log_weights = np.empty(slots.counts.shape[0])
    used = 0  # clusters with rows
    for node in range(labels.shape[0]):
        if slots.counts[labels[node]] == 0:
            used += 1
        for a in range(nodes.ptr[node], nodes.ptr[node + 1]):
            add_row(nodes.X[nodes.members[a]], prior.kappa, slots, labels[node])
    for position in range(seating.order.shape[0]):
        node = seating.order[position]
        begin, end = nodes.ptr[node], nodes.ptr[node + 1]
        slot = labels[node]
        for a in range(begin, end):
            remove_row(nodes.X[nodes.members[a]], prior.kappa, slots, slot)
        if slots.counts[slot] == 0:
            clear_slot(slots, slot, prior)
            used -= 1
        labels[node] = -1
        fresh = seating_weights(node, end - begin, labels, slots.counts, seating, log_weights)
        if end - begin == 1:
            add_predictives(nodes.X[nodes.members[begin]], prior, slots, log_weights)
        else:
            add_joint_predictives(node, nodes, prior, slots, spare, log_weights)
        chosen = draw(log_weights, seating.chance[position])
        labels[node] = chosen
        if chosen == fresh:
            used += 1
        for a in range(begin, end):
            add_row(nodes.X[nodes.members[a]], prior.kappa, slots, chosen)
        if used == slots.counts.shape[0]:  # keep one free slot for the next node
            slots = more_slots(slots, prior)
            log_weights = np.empty(slots.counts.shape[0])
