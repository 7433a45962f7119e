"""The rows that a field is learned from: all, or those in pairs and a sample of others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints

__all__ = ["named_by_all_rows", "teaching_rows"]


def teaching_rows(
    n: int,
    constraints: Constraints,
    weights: Array | None,
    tuning: Tuning,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Their numbers, rising. Nothing as long as the data is made: n rows may be in files."""
    most = tuning.most_features // tuning.most_prototypes
    if n <= most:
        return np.arange(n)
    inside = np.unique(constraints.pairs)
    # Never fewer than half: the field needs to know where rows lie.
    wanted = max(most - inside.size, most // 2)
    drawn = rng.choice(n, min(n, wanted + inside.size), replace=False, shuffle=False)
    drawn = drawn[~np.isin(drawn, inside)][:wanted]
    if weights is not None:
        drawn = drawn[weights[drawn] > 0]
    return np.sort(np.concatenate([inside, drawn]))


def named_by_all_rows(conflict: Constraints, rows: Array, n: int) -> InfeasibleConstraints:
    """The conflict among some `rows` (·,), told of all n."""
    clash = ", ".join(map(str, rows[np.unique(conflict.pairs)]))
    return InfeasibleConstraints(
        f"the pairs among rows {clash} cannot all be kept.", conflict.relabel(rows, n)
    )
