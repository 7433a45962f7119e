"""`Constraints`: what the user knows about which rows belong together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import BoolArray, FloatArray, IntArray, KindArray
from coterie.constraints import _input
from coterie.constraints import exclusive as _groups
from coterie.constraints._input import CANNOT, MUST, PairArrays
from coterie.constraints.exclusive import MOST_PAIRS, NO_GROUPS, ExclusiveGroups
from coterie.constraints.sources import Sources
from coterie.constraints.value import FrozenPairs
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints, InvalidParameter

if TYPE_CHECKING:
    from coterie.constraints.closure import Closure
    from coterie.constraints.conflicts import Conflicts
    from coterie.constraints.core import Core


class Constraints(FrozenPairs, Sources):
    """Must-link and cannot-link pairs over `n_samples` rows; a frozen value.

    Pairs are stored in one canonical form (i < j, sorted), so the order and the orientation in
    which they are given cannot matter. A must-link of a row with itself is dropped, a cannot-link
    of a row with itself refused. A certainty below ½ means the opposite kind.

    Parameters
    ----------
    n_samples : int
        Number of rows of the data the pairs are about.
    must_link, cannot_link : array-like of int, shape (m, 2), optional
        Row numbers.
    must_weight, cannot_weight : float or array-like (m,), default 1
        How many times each pair counts; `np.inf` makes it hard (never broken).
    must_certainty, cannot_certainty : float or array-like (m,), optional
        Probability that the pair is right; 1 makes it hard, NaN means not given.
    exclusive : sequence of array-like of int, optional
        Groups of rows of which no two belong together (one record of each source, say). They are
        kept as groups, never as the pairs they stand for.
    exclusive_weight, exclusive_certainty : float or array-like (G,), optional
        Of each group's pairs, as above.

    Attributes
    ----------
    n_samples, n_pairs : int
    pairs : (m, 2) int64, i < j
    kind : (m,) int8
        +1 must-link, −1 cannot-link.
    weight : (m,) float64
    certainty : (m,) float64, NaN where not given
    is_hard : (m,) bool
    exclusive : ExclusiveGroups
        Groups that are all different: `rows`, `ptr`, `weight`, `certainty`.

    Examples
    --------
    >>> from coterie import Constraints
    >>> Constraints(5, must_link=[(0, 1), (2, 1)], cannot_link=[(0, 4)], cannot_weight=float("inf"))
    Constraints(5 rows: 2 must-link, 1 cannot-link (1 hard))
    """

    __slots__ = ()

    def __init__(
        self,
        n_samples: int | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        *,
        must_weight: ArrayLike | None = None,
        cannot_weight: ArrayLike | None = None,
        must_certainty: ArrayLike | None = None,
        cannot_certainty: ArrayLike | None = None,
        exclusive: Any = None,
        exclusive_weight: ArrayLike | None = None,
        exclusive_certainty: ArrayLike | None = None,
    ) -> None:
        if n_samples is None:  # what is forgotten most; Python's own words would not help
            raise InvalidConstraints(
                "n_samples is missing: the number of rows comes first, as in "
                "Constraints(len(X), must_link=[(0, 1)], cannot_link=[(1, 7)])."
            )
        n = _input.check_n_samples(n_samples)
        must = _input.check_kind_of_pairs(MUST, must_link, must_weight, must_certainty, n)
        cannot = _input.check_kind_of_pairs(CANNOT, cannot_link, cannot_weight, cannot_certainty, n)
        groups = _groups.check_exclusive(n, exclusive, exclusive_weight, exclusive_certainty)
        self._freeze(n, _input.canonical(_input.join(must, cannot)), groups)
        self._refuse_hard_of_both_kinds()

    # -- questions -----------------------------------------------------------------------------

    def closure(self, hard_only: bool = True) -> Closure:
        """Components of the (hard) must-links and the cannot-links between them."""
        from coterie.constraints.closure import build_closure

        return build_closure(self, hard_only)

    def conflicts(self, hard_only: bool = False) -> Conflicts:
        """Every contradiction, each a minimal set: a must-link path and the cannot-link it breaks.

        By default soft pairs are taken at their word too, which finds pairs that disagree.
        """
        from coterie.constraints.conflicts import Conflicts

        return Conflicts(self, hard_only)

    def redundant(self, hard_only: bool = False) -> IntArray:
        """Numbers (r,) of pairs that say only what the other pairs imply.

        All of them can be left out without changing what follows from the rest: must-links beyond
        a spanning forest of their components, and cannot-links between two components that an
        earlier one parts already. A cannot-link inside a component contradicts and is never
        redundant. By default soft pairs are taken at their word too; pairs of weight 0 say nothing
        and do not count.

        Examples
        --------
        >>> pairs = Constraints(4, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(0, 3), (2, 3)])
        >>> pairs.pairs[pairs.redundant()].tolist()
        [[1, 2], [2, 3]]
        """
        from coterie.constraints.redundancy import redundant_pairs

        return redundant_pairs(self, hard_only)

    def entailed(self, hard_only: bool = True, max_pairs: int = 1_000_000) -> Constraints:
        """These pairs and all that follow from them (Basu et al. 2004, section 3), written out.

        Rows that a path of must-links joins belong together; one cannot-link between two such
        groups parts all their rows. What follows from hard pairs is hard. With
        ``hard_only=False`` soft pairs are taken at their word too, and what follows weighs 1.
        `closure` knows the same without writing it out, which is quadratic in the groups.

        Raises
        ------
        InfeasibleConstraints
            The pairs that count contradict each other.
        InvalidParameter
            More than `max_pairs` pairs follow.

        Examples
        --------
        >>> pairs = Constraints(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3)])
        >>> pairs.entailed(hard_only=False)
        Constraints(4 rows: 3 must-link, 3 cannot-link)
        """
        from coterie.constraints.entailment import entailed_pairs

        return entailed_pairs(self, hard_only, max_pairs)

    def check_feasible(
        self, n_clusters: int, hard_only: bool = False, time_limit: float = 10.0
    ) -> IntArray:
        """Labels (n,) in 0..n_clusters−1 that meet every pair (or every hard pair).

        Raises
        ------
        InfeasibleConstraints
            There are none; `.conflict` is a minimal set of your own pairs that cannot all be met.
        UndecidedFeasibility
            Not decided within `time_limit` seconds.
        """
        from coterie.constraints.feasibility import check_feasible

        return check_feasible(self, n_clusters, hard_only, time_limit)

    def core(self) -> Core:
        """The arrays inference works on: constrained rows, hard must-links contracted."""
        from coterie.constraints.core import build_core

        return build_core(self)

    # -- other constraints from this one -------------------------------------------------------

    def subset(self, rows: ArrayLike) -> Constraints:
        """The pairs among `rows` (numbers or a mask), renumbered: constraints for `X[rows]`.

        A pair with an end outside `rows` is dropped.
        """
        from coterie.constraints.building import subset

        return subset(self, rows)

    def __getitem__(self, rows: Any) -> Constraints:
        """`subset(rows)`, as scikit-learn cuts what belongs to rows; `rows` may be a slice too.

        Says so (`LostPairs`) where most pairs have an end outside.
        """
        from coterie.constraints.folds import part

        return part(self, rows)

    def expanded(self, max_pairs: int = MOST_PAIRS) -> Constraints:
        """The same, with the pairs that exclusive groups stand for written out.

        That is quadratic in the size of the groups. Estimators that know pairs only are given
        this where it is small.

        Raises
        ------
        InvalidParameter
            The groups stand for more than `max_pairs` pairs.

        Examples
        --------
        >>> Constraints(4, exclusive=[(0, 1, 2)]).expanded().cannot_link.tolist()
        [[0, 1], [0, 2], [1, 2]]
        """
        if not self.exclusive.n_groups:
            return self
        written = _groups.written_out(self.exclusive, max_pairs)
        return self._of(self.n_samples, _input.sort_pairs(_input.join(self._arrays(), written)))

    def relabel(self, mapping: ArrayLike, n_samples: int | None = None) -> Constraints:
        """The same pairs where row i is now row `mapping[i]` of `n_samples` (default: as before).

        Two rows may become one, for instance when duplicate records are merged.
        """
        from coterie.constraints.building import relabel

        return relabel(self, mapping, n_samples)

    def only(self, kind: str) -> Constraints:
        """The pairs of one kind, "must" or "cannot"; exclusive groups go with the latter."""
        from coterie.constraints.frames import kind_of

        wanted = kind_of(kind)
        if wanted is None:
            raise InvalidParameter(f'kind={kind!r} is not known; give "must" or "cannot"')
        return self._take(self.kind == wanted, self.exclusive if wanted == CANNOT else NO_GROUPS)

    def pick(self, pairs: ArrayLike) -> Constraints:
        """Some of the pairs, by number or mask, among the same rows; exclusive groups all stay.

        Examples
        --------
        >>> known = Constraints(4, must_link=[(0, 1), (2, 3)], cannot_link=[(1, 2)])
        >>> known.pick(known.kind > 0)
        Constraints(4 rows: 2 must-link, 0 cannot-link)
        """
        from coterie.constraints.building import numbers_of

        chosen = np.unique(numbers_of("pairs", pairs, self.n_pairs, "pair"))
        return self._take(chosen, self.exclusive)

    def as_hard(self) -> Constraints:
        """Every pair hard, except those of weight 0, which still say nothing."""
        weight = np.where(self.weight > 0, np.inf, 0.0)
        return self._rebuilt(weight, np.full(self.n_pairs, np.nan), self.exclusive.as_hard())

    def as_soft(self, weight: float = 1.0) -> Constraints:
        """Every hard pair soft, with this weight; soft pairs stay as they are."""
        new = _input.check_weight("weight", np.array([weight], dtype=np.float64))[0]
        if np.isinf(new):
            raise InvalidParameter("weight=inf is a hard pair; give as_soft a finite weight")
        return self._rebuilt(
            np.where(self.is_hard, new, self.weight),
            np.where(self.is_hard, np.nan, self.certainty),
            self.exclusive.as_soft(float(new)),
        )

    def __add__(self, other: object) -> Constraints:
        if not isinstance(other, Constraints):
            return NotImplemented
        if other.n_samples != self.n_samples:
            raise InvalidConstraints(
                f"cannot add constraints over {self.n_samples} and {other.n_samples} rows; bring "
                "both to the same rows with subset(rows) or relabel(mapping, n_samples)"
            )
        joined = _input.join(self._arrays(), other._arrays())
        groups = _groups.join(self.exclusive, other.exclusive)
        return self._of(self.n_samples, _input.sort_pairs(joined), groups)

    # -- out; constructors from what else there is: `Sources` -------------------------------------
    def to_frame(self, backend: str = "pandas", ids: Any = None) -> Any:
        """Columns i, j, kind, weight, certainty as a pandas, polars or pyarrow frame.

        Exclusive groups as the pairs they stand for (`expanded`).
        """
        from coterie.constraints.frames import to_frame

        return to_frame(self, backend, ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to `.csv` or `.parquet`, all or nothing."""
        from coterie.constraints.files import save

        save(self, path)

    # -- the frozen value ----------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _unchecked, (self.n_samples, *self._arrays(), self.exclusive)

    def __coterie_state__(self) -> dict[str, Any]:
        """What the constructor takes to make an equal object; models are saved so."""
        must = self.kind == MUST
        groups = self.exclusive
        return {
            "n_samples": self.n_samples,
            "must_link": self.pairs[must],
            "cannot_link": self.pairs[~must],
            "must_weight": self.weight[must],
            "cannot_weight": self.weight[~must],
            "must_certainty": self.certainty[must],
            "cannot_certainty": self.certainty[~must],
        } | (
            {
                "exclusive": groups.listed(),
                "exclusive_weight": groups.weight,
                "exclusive_certainty": groups.certainty,
            }
            if groups.n_groups
            else {}
        )

    def _take(
        self, which: IntArray | BoolArray, groups: ExclusiveGroups = NO_GROUPS
    ) -> Constraints:
        """The chosen pairs (numbers must be sorted), without the check on hard pairs.

        A subset of a consistent set is consistent, and a conflict must be able to hold a clash.
        """
        return _unchecked(self.n_samples, *_input.take(self._arrays(), which), groups)

    def _holding(self, canonical: PairArrays) -> Constraints:
        """Other pairs over the same rows, without the check on hard pairs."""
        return _unchecked(self.n_samples, *canonical)

    def _rebuilt(
        self, weight: FloatArray, certainty: FloatArray, groups: ExclusiveGroups
    ) -> Constraints:
        changed = self._arrays()._replace(weight=weight, certainty=certainty)
        return self._of(self.n_samples, _input.sort_pairs(changed), groups)

    @classmethod
    def _of(
        cls, n_samples: int, canonical: PairArrays, groups: ExclusiveGroups = NO_GROUPS
    ) -> Constraints:
        """From canonical arrays, with the check on hard pairs of both kinds."""
        made = _unchecked(n_samples, *canonical, groups)
        made._refuse_hard_of_both_kinds()
        return made

    def _refuse_hard_of_both_kinds(self) -> None:
        hard = np.flatnonzero(self.is_hard)
        pairs, kind = self.pairs[hard], self.kind[hard]
        clash = (kind[1:] != kind[:-1]) & (pairs[1:] == pairs[:-1]).all(axis=1)
        if clash.any():
            at = np.flatnonzero(clash)[0]
            i, j = pairs[at].tolist()
            raise InfeasibleConstraints(
                f"rows {i} and {j} are both a hard must-link and a hard cannot-link; remove one, "
                "or make one soft (a finite weight, a certainty below 1)",
                self._take(hard[at : at + 2]),
            )


def _unchecked(
    n_samples: int,
    pairs: IntArray,
    kind: KindArray,
    weight: FloatArray,
    certainty: FloatArray,
    groups: ExclusiveGroups = NO_GROUPS,
) -> Constraints:
    """Constraints from arrays already in canonical form (also how pickles and copies come back)."""
    made = Constraints.__new__(Constraints)
    made._freeze(n_samples, PairArrays(pairs, kind, weight, certainty), groups)
    return made
