"""Random constraint sets for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from coterie.constraints import Constraints

WEIGHTS = (0.0, 0.5, 1.0, 2.0, np.inf)
CERTAINTIES = (np.nan, 0.6, 0.8, 1.0)


@st.composite
def raw_pairs(draw, max_rows=8, max_pairs=14, hard=True):
    """(n, list of (i, j, kind, weight, certainty)) with no hard pair of both kinds."""
    n = draw(st.integers(2, max_rows))
    one = st.tuples(
        st.integers(0, n - 1),
        st.integers(0, n - 1),
        st.sampled_from((1, -1)),
        st.sampled_from(WEIGHTS if hard else WEIGHTS[1:4]),
        st.sampled_from(CERTAINTIES if hard else CERTAINTIES[:3]),
    )
    given = draw(st.lists(one.filter(lambda p: p[0] != p[1]), max_size=max_pairs))
    hard_kind: dict[frozenset, int] = {}
    kept = []
    for i, j, kind, weight, certainty in given:
        is_hard = np.isinf(weight) or (certainty == 1 and weight > 0)
        if is_hard and hard_kind.setdefault(frozenset((i, j)), kind) != kind:
            continue
        kept.append((i, j, kind, weight, certainty))
    return n, kept


def build(n, given):
    """Constraints from such a list."""
    must = [p for p in given if p[2] > 0]
    cannot = [p for p in given if p[2] < 0]
    return Constraints(
        n,
        [p[:2] for p in must],
        [p[:2] for p in cannot],
        must_weight=[p[3] for p in must],
        cannot_weight=[p[3] for p in cannot],
        must_certainty=[p[4] for p in must],
        cannot_certainty=[p[4] for p in cannot],
    )


@st.composite
def constraint_sets(draw, **options):
    """Random Constraints."""
    return build(*draw(raw_pairs(**options)))
