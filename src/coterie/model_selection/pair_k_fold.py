"""`PairKFold`: folds for cross-validation that do not tear pairs apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coterie.constraints import Constraints, PairRows
from coterie.exceptions import InvalidConstraints
from coterie.parameters import check_arguments
from coterie.validation import check_constraints

__all__ = ["PairKFold"]

IntArray = NDArray[np.int64]


class PairKFold:
    """K folds of pairs, or of rows whose pairs stay whole: `cv` of GridSearchCV and its like.

    Plain folds keep a pair only where both of its rows fall on the same side: of 5 folds, 64 % of
    the pairs for training and 4 % for scoring. This one loses none.

    Parameters
    ----------
    constraints : Constraints
        The same that are given to `fit`.
    n_splits : int, default=5
    hold_out : {"pairs", "components"}, default="pairs"
        "pairs": every fit sees all rows and the pairs of the other folds; its score is about the
        rows of the pairs that were held out (`coterie.pair_score`). Both kinds are dealt evenly.
        "components": rows that pairs join, of either kind, directly or along a chain, stay
        together, so that a fold is held out with all its pairs; rows in no pair are dealt evenly.
        For scores by known labels of rows that were not seen.
    random_state : int or RandomState, optional
        Order in which pairs and rows are dealt.

    Examples
    --------
    >>> from coterie import Constraints, PairKFold
    >>> known = Constraints(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 4), (3, 5)])
    >>> for train, test in PairKFold(known, 2, random_state=0).split(range(6)):
    ...     print(len(train), known[train].n_pairs, known[test].n_pairs)
    6 2 2
    6 2 2
    """

    def __init__(
        self,
        constraints: Constraints,
        n_splits: int = 5,
        *,
        hold_out: str = "pairs",
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        check_arguments(PairKFold, locals())
        self.n_splits = int(n_splits)
        self.hold_out = hold_out
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """`n_splits`; the arguments are ignored."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Row numbers to fit and to score on, fold by fold; `y` and `groups` are ignored.

        Where pairs are held out, rows are counted from the end (see `PairRows`).
        """
        known = check_constraints(self.constraints, X.shape[0] if hasattr(X, "shape") else len(X))
        rng = check_random_state(self.random_state)
        parts = self._pairs if self.hold_out == "pairs" else self._components
        yield from parts(known, rng)

    def _pairs(self, known: Constraints, rng: Any) -> Iterator[tuple[IntArray, IntArray]]:
        counts = np.flatnonzero(known.weight > 0)
        self._refuse_too_few(counts.size, "pairs")
        # Dealt in turn, one kind after the other, so that folds differ by one pair at most.
        order = rng.permutation(counts)
        order = order[np.argsort(known.kind[order], kind="stable")]
        fold = np.full(known.n_pairs, -1, dtype=np.int64)
        fold[order] = np.arange(order.size) % self.n_splits
        n = known.n_samples
        for held in range(self.n_splits):
            scored = fold == held
            test = np.unique(known.pairs[scored])
            yield PairRows(np.arange(n), n, ~scored), PairRows(test, n, scored)

    def _components(self, known: Constraints, rng: Any) -> Iterator[tuple[IntArray, IntArray]]:
        component, n_pairs = _joined(known)
        tied = np.flatnonzero(n_pairs)
        self._refuse_too_few(tied.size, "components of pairs")
        fold = np.empty(n_pairs.size, dtype=np.int64)
        load = np.zeros(self.n_splits)
        for at in tied[np.argsort(-n_pairs[tied], kind="stable")]:  # the largest first
            fold[at] = load.argmin()
            load[fold[at]] += n_pairs[at]
        single = rng.permutation(np.flatnonzero(n_pairs == 0))
        fold[single] = np.arange(single.size) % self.n_splits
        of_row = fold[component]
        for held in range(self.n_splits):
            yield np.flatnonzero(of_row != held), np.flatnonzero(of_row == held)

    def _refuse_too_few(self, found: int, what: str) -> None:
        if found < self.n_splits:
            other = ' or hold_out="pairs"' if self.hold_out == "components" else ""
            raise InvalidConstraints(
                f"n_splits={self.n_splits} but there are {found} {what}; every fold needs one: "
                f"give fewer splits{other}."
            )

    def __repr__(self) -> str:
        return (
            f"PairKFold({self.constraints!r}, n_splits={self.n_splits}, "
            f"hold_out={self.hold_out!r}, random_state={self.random_state!r})"
        )


def _joined(known: Constraints) -> tuple[IntArray, IntArray]:
    """Component (n,) of each row by pairs of both kinds, and the pairs (C,) in each."""
    counts = known.weight > 0
    linked = known.pairs[counts]
    closure = Constraints(known.n_samples, must_link=linked).closure(hard_only=False)
    return closure.component, np.bincount(
        closure.component[linked[:, 0]], minlength=closure.n_components
    )
