"""Compiled Gibbs sweep of families whose columns are independent; see `_seating_kernels`.

A cluster is its number of rows, the sums of its columns and, for variances that are not known, the
sums of their squares. The density of a node given a cluster is a ratio of evidences.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from coterie.mixture.tvclust._seating_kernels import draw, first_slots, seating_weights

DIAGONAL, SPHERICAL, KNOWN, BERNOULLI, POISSON = range(5)


class ColumnNodes(NamedTuple):
    """Sums of the nodes: columns, then squares where the family has them; rows of each node."""

    sums: Any  # (nodes, width) float64
    masses: Any  # (nodes,) int64


class ColumnPrior(NamedTuple):
    """Which family it is, and its prior."""

    kind: int
    d: int
    weight: float  # kappa_0, or the concentration of a prior of counts
    nu: float  # degrees of freedom of a variance
    psi: float  # its scale
    rates: Any  # (d,) Poisson: rates of the Gamma priors


class ColumnSlots(NamedTuple):
    """Clusters: number of rows, sums, and log-evidence."""

    counts: Any  # (C,) int64
    sums: Any  # (C, width)
    evidence: Any  # (C,)


@njit(cache=True, nogil=True)
def log_evidence(prior, count, slot_sums, node_sums):
    """ln p(rows) of `count` rows with sums slot + node, up to a term of the rows alone."""
    d, total = prior.d, 0.0
    kappa = prior.weight + count
    if prior.kind <= SPHERICAL:
        shared = prior.psi
        nu = prior.nu + count * (d if prior.kind == SPHERICAL else 1)
        for m in range(d):
            s = slot_sums[m] + node_sums[m]
            scatter = max(slot_sums[d + m] + node_sums[d + m] - s * s / kappa, 0.0)
            shared += scatter
            if prior.kind == DIAGONAL:
                total += math.lgamma(0.5 * nu) - 0.5 * nu * math.log(prior.psi + scatter)
        if prior.kind == SPHERICAL:
            total = math.lgamma(0.5 * nu) - 0.5 * nu * math.log(shared)
        return total - 0.5 * d * math.log(kappa)
    for m in range(d):
        s = slot_sums[m] + node_sums[m]
        if prior.kind == KNOWN:
            total += 0.5 * (s * s / kappa - math.log(kappa))
        elif prior.kind == BERNOULLI:
            total += math.lgamma(prior.weight + s) + math.lgamma(prior.weight + count - s)
            total -= math.lgamma(2.0 * prior.weight + count)
        else:
            shape = prior.weight + s
            total += math.lgamma(shape) - shape * math.log(prior.rates[m] + count)
    return total


@njit(cache=True, nogil=True)
def move_sums(sums, sign, slots, slot):  # IN sums (width,)
    """Add (sign 1.0) or take off (sign -1.0) a node's sums."""
    for m in range(sums.shape[0]):
        slots.sums[slot, m] += sign * sums[m]


@njit(cache=True, nogil=True)
def free_slots(n_slots, width, prior, nothing):
    """Slots without rows."""
    slots = ColumnSlots(
        np.zeros(n_slots, dtype=np.int64), np.zeros((n_slots, width)), np.empty(n_slots)
    )
    empty = log_evidence(prior, slots.counts[0], nothing, nothing)
    for k in range(n_slots):
        slots.evidence[k] = empty
    return slots


@njit(cache=True, nogil=True)
def sweep_columns(nodes, prior, seating, labels):
    """One sweep over all nodes in the given order."""
    # IN: ColumnNodes, ColumnPrior, Seating   IN OUT: labels (nodes,) slots
    width = nodes.sums.shape[1]
    nothing = np.zeros(width)
    slots = free_slots(first_slots(labels), width, prior, nothing)
    log_weights = np.empty(slots.counts.shape[0])
    used = 0  # clusters with rows
    for node in range(labels.shape[0]):
        if slots.counts[labels[node]] == 0:
            used += 1
        move_sums(nodes.sums[node], 1.0, slots, labels[node])
        slots.counts[labels[node]] += nodes.masses[node]
    for k in range(slots.counts.shape[0]):
        slots.evidence[k] = log_evidence(prior, slots.counts[k], slots.sums[k], nothing)
    for position in range(seating.order.shape[0]):
        node = seating.order[position]
        own, mass, slot = nodes.sums[node], nodes.masses[node], labels[node]
        slots.counts[slot] -= mass
        if slots.counts[slot] == 0:
            used -= 1
            for m in range(width):  # exactly, whatever rounding left
                slots.sums[slot, m] = 0.0
        else:
            move_sums(own, -1.0, slots, slot)
        slots.evidence[slot] = log_evidence(prior, slots.counts[slot], slots.sums[slot], nothing)
        labels[node] = -1
        fresh = seating_weights(node, mass, labels, slots.counts, seating, log_weights)
        for k in range(log_weights.shape[0]):
            if log_weights[k] != -np.inf:
                joined = log_evidence(prior, slots.counts[k] + mass, slots.sums[k], own)
                log_weights[k] += joined - slots.evidence[k]
        chosen = draw(log_weights, seating.chance[position])
        labels[node] = chosen
        if chosen == fresh:
            used += 1
        move_sums(own, 1.0, slots, chosen)
        slots.counts[chosen] += mass
        slots.evidence[chosen] = log_evidence(
            prior, slots.counts[chosen], slots.sums[chosen], nothing
        )
        if used == slots.counts.shape[0]:  # keep one free slot for the next node
            wider = free_slots(2 * used, width, prior, nothing)
            for k in range(used):
                wider.counts[k] = slots.counts[k]
                wider.evidence[k] = slots.evidence[k]
                for m in range(width):
                    wider.sums[k, m] = slots.sums[k, m]
            slots = wider
            log_weights = np.empty(slots.counts.shape[0])
