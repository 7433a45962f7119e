"""Compiled randomised trees (Geurts, Ernst and Wehenkel 2006), small ones: hundreds of rows."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["grow", "vote"]


@njit(cache=True, nogil=True)
def _draw(state):
    """A number in [0, 1) and the next state (xorshift64*)."""
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    return float((state * np.uint64(2685821657736338717)) >> np.uint64(11)) / 2.0**53, state


@njit(cache=True, nogil=True)
def _best_cut(X, target, counts, rows, columns, tries, inside, state):
    """Of `tries` columns that vary, each cut at random, the one with the purest sides.

    Returns the column (-1: none varies), the cut and the next state.
    """  # IN rows (r,), inside (k,) work space; columns (d,) is shuffled in place
    best, column, cut = -1.0, -1, 0.0
    left, tried, total = columns.shape[0], 0, 0
    for row in rows:
        total += counts[row]
    while left > 0 and tried < tries:
        u, state = _draw(state)
        at = min(int(u * left), left - 1)
        left -= 1
        columns[at], columns[left] = columns[left], columns[at]
        c = columns[left]
        low = high = X[rows[0], c]
        for row in rows:
            low, high = min(low, X[row, c]), max(high, X[row, c])
        if not high > low:
            continue
        tried += 1
        u, state = _draw(state)
        at_cut = low + u * (high - low)
        if not at_cut < high:  # by rounding
            at_cut = low
        # Purity: the sum over both sides of (squared counts of groups) / (count).
        inside[:] = 0
        below = 0
        for row in rows:
            if X[row, c] <= at_cut:
                inside[0, target[row]] += counts[row]
                below += counts[row]
            else:
                inside[1, target[row]] += counts[row]
        purity = 0.0
        for group in range(inside.shape[1]):
            purity += inside[0, group] ** 2 / below + inside[1, group] ** 2 / (total - below)
        if purity > best:
            best, column, cut = purity, c, at_cut
    return column, cut, state


@njit(cache=True, nogil=True)
def grow(X, target, counts, k, tries, seed, column, cut, child, value):
    """One tree for every row of `counts`, grown until its leaves are pure or cannot be cut."""
    # IN X (R, d) float32, target (R,), counts (T, R) how often each tree is shown each row
    # OUT column (T, N) -1 at leaves, cut (T, N), child (T, N) the left one, the right one follows
    #     it, value (T, N, k) share of each group at leaves; N = 2 R
    state = np.uint64(seed) * np.uint64(2) + np.uint64(1)
    columns = np.arange(X.shape[1])
    inside = np.zeros((2, k))
    for tree in range(counts.shape[0]):
        shown = counts[tree]
        order = np.flatnonzero(shown)
        first, last = np.zeros(column.shape[1], np.int64), np.zeros(column.shape[1], np.int64)
        last[0], made, node = order.shape[0], 1, 0
        while node < made:
            rows = order[first[node] : last[node]]
            column[tree, node] = -1
            total = 0
            for row in rows:
                value[tree, node, target[row]] += shown[row]
                total += shown[row]
            pure = False
            for group in range(k):
                pure |= value[tree, node, group] == total
                value[tree, node, group] /= total
            if not pure:
                c, at_cut, state = _best_cut(X, target, shown, rows, columns, tries, inside, state)
                if c >= 0:
                    low = 0
                    for t in range(rows.shape[0]):
                        if X[rows[t], c] <= at_cut:
                            rows[low], rows[t] = rows[t], rows[low]
                            low += 1
                    column[tree, node], cut[tree, node], child[tree, node] = c, at_cut, made
                    first[made], last[made] = first[node], first[node] + low
                    first[made + 1], last[made + 1] = first[node] + low, last[node]
                    made += 2
            node += 1


@njit(cache=True, nogil=True)
def vote(X, column, cut, child, value, told, found, votes):
    """Add up what the trees say of each row; of tree t only where told[t, row] is 0."""
    # IN X (b, d) float32; told (T, b) or (T, 0): all trees speak
    # OUT found (b, k), votes (b,)
    for row in range(X.shape[0]):
        for tree in range(column.shape[0]):
            if told.shape[1] > 0 and told[tree, row] > 0:
                continue
            node = 0
            while column[tree, node] >= 0:
                right = X[row, column[tree, node]] > cut[tree, node]
                node = child[tree, node] + (1 if right else 0)
            votes[row] += 1
            for group in range(found.shape[1]):
                found[row, group] += value[tree, node, group]
