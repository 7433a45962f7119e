"""Compiled cover of hard edges by cliques."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def clique_cover(indptr, indices):
    """Cliques of a symmetric graph that together hold every edge, each grown greedily.

    Returns members and the clique of each, (·,) int64; memory of the order of the edges.
    """  # IN indptr (s + 1,), indices (2E,)
    s = indptr.shape[0] - 1
    covered = np.zeros(indices.shape[0], np.bool_)
    hits = np.zeros(s, np.int64)  # how many members of the clique at hand are neighbours
    inside = np.zeros(s, np.bool_)
    member, clique = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    number = 0
    for u in range(s):
        for e in range(indptr[u], indptr[u + 1]):
            if covered[e]:
                continue
            first = len(member)
            for candidate in range(-2, indptr[u + 1] - indptr[u]):
                w = indices[indptr[u] + max(candidate, 0)]
                if candidate == -2:
                    w = u
                elif candidate == -1:
                    w = indices[e]
                if inside[w] or hits[w] < len(member) - first:
                    continue
                inside[w] = True
                member.append(w)
                clique.append(np.int64(number))
                for t in range(indptr[w], indptr[w + 1]):
                    hits[indices[t]] += 1
            for a in member[first:]:
                for t in range(indptr[a], indptr[a + 1]):
                    hits[indices[t]] = 0
                    if inside[indices[t]]:
                        covered[t] = True
            for a in member[first:]:
                inside[a] = False
            number += 1
    return np.array(member, dtype=np.int64), np.array(clique, dtype=np.int64)
