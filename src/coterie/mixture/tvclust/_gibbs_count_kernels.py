"""Compiled Gibbs sweep of multinomial counts; see `_seating_kernels`."""

# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from coterie.mixture.tvclust._seating_kernels import draw, first_slots, seating_weights


class CountNodes(NamedTuple):
    """Counts of the nodes, a CSR matrix; their sums, and how many rows each node has."""

    data: Any  # (nnz,) float64
    columns: Any  # (nnz,) int64
    ptr: Any  # (nodes + 1,) int64
    sizes: Any  # (nodes,) float64
    masses: Any  # (nodes,) int64


class CountSlots(NamedTuple):
    """Clusters: number of rows, and counts with the prior's among them."""

    counts: Any  # (C,) int64
    words: Any  # (C, d)
    totals: Any  # (C,)


@njit(cache=True, nogil=True)
def move_node(node, nodes, sign, slots, slot):
    """Add (sign 1.0) or take off (sign -1.0) a node's counts and rows."""
    for e in range(nodes.ptr[node], nodes.ptr[node + 1]):
        slots.words[slot, nodes.columns[e]] += sign * nodes.data[e]
        slots.totals[slot] += sign * nodes.data[e]
    slots.counts[slot] += int(sign) * nodes.masses[node]


@njit(cache=True, nogil=True)
def log_gain(node, nodes, slots, slot):
    """ln p(counts of the node | counts of the slot), of the Dirichlet-multinomial."""
    total = slots.totals[slot]
    gain = math.lgamma(total) - math.lgamma(total + nodes.sizes[node])
    for e in range(nodes.ptr[node], nodes.ptr[node + 1]):
        c = slots.words[slot, nodes.columns[e]]
        if nodes.data[e] == 1.0:
            gain += math.log(c)
        else:
            gain += math.lgamma(c + nodes.data[e]) - math.lgamma(c)
    return gain


@njit(cache=True, nogil=True)
def sweep_counts(nodes, concentration, n_columns, seating, labels):
    """One sweep over all nodes for counts."""
    # IN: CountNodes; the prior's count per column; Seating
    # IN OUT: labels (nodes,) slots
    n_slots = first_slots(labels)
    slots = CountSlots(
        np.zeros(n_slots, dtype=np.int64),
        np.full((n_slots, n_columns), concentration),
        np.full(n_slots, concentration * n_columns),
    )
    log_weights = np.empty(n_slots)
    used = 0
    for node in range(labels.shape[0]):
        if slots.counts[labels[node]] == 0:
            used += 1
        move_node(node, nodes, 1.0, slots, labels[node])
    for position in range(seating.order.shape[0]):
        node = seating.order[position]
        slot = labels[node]
        move_node(node, nodes, -1.0, slots, slot)
        if slots.counts[slot] == 0:
            slots.words[slot] = concentration
            slots.totals[slot] = concentration * n_columns
            used -= 1
        labels[node] = -1
        mass = nodes.masses[node]
        fresh = seating_weights(node, mass, labels, slots.counts, seating, log_weights)
        for k in range(n_slots):
            if log_weights[k] != -np.inf:
                log_weights[k] += log_gain(node, nodes, slots, k)
        chosen = draw(log_weights, seating.chance[position])
        labels[node] = chosen
        if chosen == fresh:
            used += 1
        move_node(node, nodes, 1.0, slots, chosen)
        if used == n_slots:
            slots = CountSlots(
                np.concatenate((slots.counts, np.zeros(n_slots, dtype=np.int64))),
                np.concatenate((slots.words, np.full((n_slots, n_columns), concentration))),
                np.concatenate((slots.totals, np.full(n_slots, concentration * n_columns))),
            )
            n_slots *= 2
            log_weights = np.empty(n_slots)
