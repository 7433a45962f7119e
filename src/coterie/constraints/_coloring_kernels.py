"""Compiled search for graph colourings, on symmetric CSR adjacency without loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie._typing import BoolArray, IntArray

FOUND, NONE, LIMIT = 1, 0, -1
MOST_ROTATIONS = 256  # colourings that wait to be looked at; needed edges found beyond are kept
SCAN = 64  # how many equally saturated nodes are compared by priority


@njit(cache=True, nogil=True)
def peel(indptr: IntArray, indices: IntArray, n_colors: int) -> Any:
    """Remove nodes of fewer than `n_colors` remaining neighbours until none is left to remove.

    Returns the removed nodes in order and a mask of the rest. Whatever colours the rest gets, the
    removed ones can follow in reverse order, each with a colour its neighbours leave free.
    """
    n = indptr.size - 1
    degree = indptr[1:] - indptr[:-1]
    kept = degree >= n_colors
    removed = np.empty(n, np.int64)
    tail = 0
    for v in range(n):
        if not kept[v]:
            removed[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = removed[head]
        head += 1
        for t in range(indptr[v], indptr[v + 1]):
            u = indices[t]
            degree[u] -= 1
            if kept[u] and degree[u] < n_colors:
                kept[u] = False
                removed[tail] = u
                tail += 1
    return removed[:tail], kept


@njit(cache=True, nogil=True)
def color_in_turn(
    nodes: IntArray,  # IN in this order
    indptr: IntArray,
    indices: IntArray,
    n_colors: int,
    color: IntArray,  # IN/OUT (n,) −1 = not yet
) -> None:
    """Give each node the first colour its neighbours leave free (there must be one)."""
    taken = np.full(n_colors, -1)
    for at in range(nodes.size):
        v = nodes[at]
        for t in range(indptr[v], indptr[v + 1]):
            if color[indices[t]] >= 0:
                taken[color[indices[t]]] = v
        c = 0
        while taken[c] == v:
            c += 1
        color[v] = c


@njit(cache=True, nogil=True)
def induced(indptr: IntArray, indices: IntArray, keep: BoolArray) -> Any:
    """The subgraph on the kept nodes: their numbers, indptr and indices."""
    nodes = np.flatnonzero(keep)
    number = np.full(keep.size, -1)
    for a in range(nodes.size):  # not at once: that would compile a message about shapes
        number[nodes[a]] = a
    sub_indptr = np.zeros(nodes.size + 1, np.int64)
    sub_indices = np.empty(indices.size, np.int64)
    fill = 0
    for a in range(nodes.size):
        v = nodes[a]
        for t in range(indptr[v], indptr[v + 1]):
            if keep[indices[t]]:
                sub_indices[fill] = number[indices[t]]
                fill += 1
        sub_indptr[a + 1] = fill
    return nodes, sub_indptr, sub_indices[:fill].copy()


@njit(cache=True, nogil=True)
def find_clique(indptr: IntArray, indices: IntArray, size: int, max_steps: int) -> IntArray:
    """A clique of `size` nodes by greedy growth from each node, or an empty array.

    A heuristic: finding none proves nothing. Stops after about `max_steps` neighbour visits.
    """
    n = indptr.size - 1
    shared = np.zeros(n, np.int64)  # how many clique members each node neighbours
    clique = np.empty(size, np.int64)
    steps = 0
    for start in range(n):
        clique[0] = start
        length = 1
        last = start
        while length < size:
            for t in range(indptr[last], indptr[last + 1]):
                shared[indices[t]] += 1
            best, best_degree = -1, -1
            for t in range(indptr[start], indptr[start + 1]):
                u = indices[t]
                if shared[u] == length and indptr[u + 1] - indptr[u] > best_degree:
                    best, best_degree = u, indptr[u + 1] - indptr[u]
            steps += indptr[last + 1] - indptr[last] + indptr[start + 1] - indptr[start]
            if best < 0:
                break
            clique[length] = best
            length += 1
            last = best
        if length == size:
            return clique
        for a in range(length):
            v = clique[a]
            for t in range(indptr[v], indptr[v + 1]):
                shared[indices[t]] = 0
        if steps > max_steps:
            break
    return clique[:0]


@register_jitable
def _link(v: int, level: int, head: IntArray, after: IntArray, before: IntArray) -> None:
    """Put node v at the front of the list of its saturation level."""
    first = head[level]
    after[v] = first
    before[v] = -1
    if first >= 0:
        before[first] = v
    head[level] = v


@register_jitable
def _unlink(v: int, level: int, head: IntArray, after: IntArray, before: IntArray) -> None:
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[level] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@register_jitable
def _most_saturated(head: IntArray, after: IntArray, priority: IntArray) -> int:
    """A node of the highest saturation, by priority among the first `SCAN` of its list."""
    level = head.size - 1
    while head[level] < 0:
        level -= 1
    best = head[level]
    v = after[best]
    seen = 1
    while v >= 0 and seen < SCAN:
        if priority[v] > priority[best]:
            best = v
        v = after[v]
        seen += 1
    return best


@njit(cache=True, nogil=True)
def dsatur(
    indptr: IntArray,
    indices: IntArray,
    n_colors: int,
    order: IntArray,  # IN (n,) nodes by rising priority
    priority: IntArray,  # IN/OUT (n,) degree plus dead ends met; dead ends add to it
    max_nodes: int,
    color: IntArray,  # OUT (n,) the colouring, or the partial one at the limit
    touched: BoolArray,  # OUT (n,) nodes the search looked at
) -> Any:
    """Depth-first search that always colours the most saturated node next (Brélaz's DSATUR).

    Returns FOUND, NONE or LIMIT, and the number of assignments made. After NONE, `touched` alone
    cannot be coloured: the search never looked at anything else. A new colour is tried only once
    per node (colours are interchangeable). Lists by saturation make each step cost its degree.
    """
    n = indptr.size - 1
    count = np.zeros((n, n_colors), np.int64)  # neighbours of each colour
    saturation = np.zeros(n, np.int64)
    head = np.full(n_colors + 1, -1)
    after = np.full(n, -1)
    before = np.full(n, -1)
    waiting = np.ones(n, np.bool_)
    for at in range(n):
        _link(order[at], saturation[order[at]], head, after, before)
        color[at] = -1
        touched[at] = False
    stack = np.empty(n, np.int64)
    used = np.zeros(n + 1, np.int64)  # colours in use before each depth
    depth, made, forward = 0, 0, True
    while True:
        if forward:
            if depth == n:
                return FOUND, made
            if made >= max_nodes:
                return LIMIT, made
            v = _most_saturated(head, after, priority)
            _unlink(v, saturation[v], head, after, before)
            waiting[v] = False
            touched[v] = True
            stack[depth] = v
            c = 0
        else:
            depth -= 1
            if depth < 0:
                return NONE, made
            v = stack[depth]
            c = color[v]
            color[v] = -1
            for t in range(indptr[v], indptr[v + 1]):
                u = indices[t]
                count[u, c] -= 1
                if count[u, c] == 0:
                    if waiting[u]:
                        _unlink(u, saturation[u], head, after, before)
                        _link(u, saturation[u] - 1, head, after, before)
                    saturation[u] -= 1
            c += 1
        limit = min(used[depth] + 1, n_colors)
        while c < limit and count[v, c] > 0:
            c += 1
        forward = c < limit
        if forward:
            color[v] = c
            made += 1
            used[depth + 1] = max(used[depth], c + 1)
            depth += 1
            for t in range(indptr[v], indptr[v + 1]):
                u = indices[t]
                count[u, c] += 1
                if count[u, c] == 1:
                    if waiting[u]:
                        _unlink(u, saturation[u], head, after, before)
                        _link(u, saturation[u] + 1, head, after, before)
                    saturation[u] += 1
        else:
            if saturation[v] == n_colors:
                priority[v] += 1
            waiting[v] = True
            _link(v, saturation[v], head, after, before)


@register_jitable
def _random_below(bound: Any, state: Any) -> int:  # state: IN/OUT (1,) uint64
    """A random number in 0..bound−1 (Knuth's linear congruential generator, upper bits)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return int(state[0] >> np.uint64(33)) % bound


@njit(cache=True, nogil=True)
def tabu_search(
    indptr: IntArray,
    indices: IntArray,
    n_colors: int,
    max_work: int,  # how many (node, colour) moves may be weighed
    seed: int,
    color: IntArray,  # IN/OUT (n,) a start, −1 = uncoloured; a proper colouring if True is returned
) -> bool:
    """Local search (TabuCol): recolour a clashing node where clashes fall most, briefly tabu back.

    Finds colourings near the threshold where the tree search is lost; proves nothing by failing.
    """
    state = np.array([seed], np.uint64)
    n = indptr.size - 1
    count = np.zeros((n, n_colors), np.int64)
    for v in range(n):
        if color[v] < 0:
            color[v] = _random_below(n_colors, state)
    for v in range(n):
        for t in range(indptr[v], indptr[v + 1]):
            count[v, color[indices[t]]] += 1
    clashing = np.empty(n, np.int64)
    place = np.full(n, -1)
    n_clashing = 0
    for v in range(n):
        if count[v, color[v]] > 0:
            clashing[n_clashing] = v
            place[v] = n_clashing
            n_clashing += 1
    free_at = np.zeros((n, n_colors), np.int64)
    work, move = 0, 0
    while n_clashing > 0 and work < max_work:
        move += 1
        work += n_clashing * n_colors
        best_gain, ties, best_v, best_c = n * 4, 0, -1, -1
        for a in range(n_clashing):
            v = clashing[a]
            now = count[v, color[v]]
            for c in range(n_colors):
                gain = count[v, c] - now
                if c == color[v] or gain > best_gain or free_at[v, c] > move:
                    continue
                if gain < best_gain:
                    best_gain, ties = gain, 0
                ties += 1
                if _random_below(ties, state) == 0:
                    best_v, best_c = v, c
        if best_v < 0:
            continue
        v, old = best_v, color[best_v]
        color[v] = best_c
        free_at[v, old] = move + 1 + _random_below(np.int64(10), state) + (3 * n_clashing) // 5
        for t in range(indptr[v] - 1, indptr[v + 1]):
            u = v if t < indptr[v] else indices[t]
            if u != v:
                count[u, old] -= 1
                count[u, best_c] += 1
            clashes = count[u, color[u]] > 0
            if clashes and place[u] < 0:
                clashing[n_clashing] = u
                place[u] = n_clashing
                n_clashing += 1
            elif not clashes and place[u] >= 0:
                n_clashing -= 1
                last = clashing[n_clashing]
                clashing[place[u]] = last
                place[last] = place[u]
                place[u] = -1
    return n_clashing == 0


@njit(cache=True, nogil=True)
def rotate(
    indptr: IntArray,
    indices: IntArray,
    edge_of: IntArray,  # IN (2E,) edge of each entry of `indices`
    edges: IntArray,  # IN (E, 2)
    broken: int,  # IN the one edge whose ends have the same colour
    n_colors: int,
    color: IntArray,  # IN (n,)
) -> BoolArray:
    """Edges (E,) without which a graph that has no colouring has one, from one such colouring.

    Where recolouring an end of the broken edge breaks exactly one other edge, the graph without
    that one is coloured; and so on from there (model rotation).
    """
    needed = np.zeros(edges.shape[0], np.bool_)
    needed[broken] = True
    colorings = np.empty((MOST_ROTATIONS, color.size), np.int64)
    waiting = np.empty(MOST_ROTATIONS, np.int64)
    colorings[0] = color
    waiting[0] = broken
    n_waiting = 1
    clashes = np.empty(n_colors, np.int64)
    clash = np.empty(n_colors, np.int64)
    while n_waiting > 0:
        n_waiting -= 1
        here = colorings[n_waiting].copy()
        edge = waiting[n_waiting]
        for side in range(2):
            v = edges[edge, side]
            clashes[:] = 0
            for t in range(indptr[v], indptr[v + 1]):
                c = here[indices[t]]
                clashes[c] += 1
                clash[c] = edge_of[t]
            for c in range(n_colors):
                if c == here[v] or clashes[c] != 1 or needed[clash[c]]:
                    continue
                needed[clash[c]] = True
                if n_waiting < MOST_ROTATIONS:
                    colorings[n_waiting] = here
                    colorings[n_waiting, v] = c
                    waiting[n_waiting] = clash[c]
                    n_waiting += 1
    return needed
