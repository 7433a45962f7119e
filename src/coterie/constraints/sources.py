"""What constraints are made from: arrays, labels, groups, frames, matrices, files.

Each method is a door to the module that does the work, which is loaded when it is first used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

__all__ = ["Sources"]


class Sources:
    """The constructors of `Constraints` by what somebody has."""

    __slots__ = ()

    @classmethod
    def empty(cls, n_samples: int) -> Constraints:
        """No pairs over `n_samples` rows."""
        from coterie.constraints.constraints import Constraints

        return Constraints(n_samples)

    @classmethod
    def from_arrays(
        cls,
        n_samples: int,
        pairs: ArrayLike,
        kind: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        certainty: ArrayLike | None = None,
    ) -> Constraints:
        """Pairs of both kinds in one array, as `pairs` and `kind` of `Constraints` hold them.

        Parameters
        ----------
        n_samples : int
        pairs : array-like of int, shape (m, 2)
            Row numbers.
        kind : array-like of shape (m,)
            Above 0 (or True) must-link, below 0 (or False) cannot-link.
        weight : float or array-like (m,), default 1
            How many times each pair counts; `np.inf` makes it hard.
        certainty : float or array-like (m,), optional
            Probability that the pair is right; 1 makes it hard, NaN means not given.

        Examples
        --------
        >>> from coterie import Constraints
        >>> Constraints.from_arrays(4, [(0, 1), (2, 1)], [1, -1], weight=[2.0, 1.0])
        Constraints(4 rows: 1 must-link, 1 cannot-link)
        """
        from coterie.constraints.building import from_arrays

        return from_arrays(n_samples, pairs, kind, weight, certainty)

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, weight: float | None = None, certainty: ArrayLike | None = None
    ) -> Constraints:
        """Partial labels (−1, NaN or None = unknown) as pairs, hard unless said otherwise.

        Parameters
        ----------
        y : array-like (n,)
        weight : float, optional
            Of every pair: infinite, that is hard, if neither it nor a certainty is given; 1 with
            certainties.
        certainty : float or array-like (n,), optional
            One number: of every pair. One for each row: how probable it is that its label is
            right; a pair is as certain as its two labels make it.

        Examples
        --------
        >>> from coterie import Constraints
        >>> known = Constraints.from_labels([0, 0, 1], certainty=[0.9, 1.0, 0.8])
        >>> known.pairs.tolist(), known.certainty.round(2).tolist()
        ([[0, 1], [1, 2]], [0.9, 0.8])
        """
        from coterie.constraints.building import from_labels

        return from_labels(y, weight, certainty)

    @classmethod
    def from_groups(
        cls, groups: ArrayLike, *, weight: float = np.inf, certainty: float | None = None
    ) -> Constraints:
        """Rows of one group (−1, NaN or None = in no group) belong together."""
        from coterie.constraints.building import from_groups

        return from_groups(groups, weight, certainty)

    @classmethod
    def from_exclusive_groups(
        cls, groups: ArrayLike, *, weight: float = np.inf, certainty: float | None = None
    ) -> Constraints:
        """No two rows of one group belong together (at most one record per source).

        Kept as groups (`exclusive`): this costs what the rows cost.
        """
        from coterie.constraints.building import from_exclusive_groups

        return from_exclusive_groups(groups, weight, certainty)

    @classmethod
    def from_class_sets(
        cls,
        classes: Any,
        *,
        per_row: int | None = None,
        weight: float = np.inf,
        certainty: float | None = None,
        random_state: Any = None,
    ) -> Constraints:
        """What is known of rows of which only some *possible* classes are known.

        Rows that have no possible class in common are apart (Lu and Leen 2007, section 5.2.1);
        rows that have one and the same single class left are together. Other rows may be either.

        Parameters
        ----------
        classes : sequence of length n, or array of bool (n, n_classes)
            For each row a set (list, tuple) of classes, or one class; None, NaN or −1 if nothing
            is known. Or a table of which classes are possible.
        per_row : int, optional
            Cannot-links drawn for each row. Default: all of them, which is quadratic in the rows.
        random_state : int, Generator or None
            Of that draw.

        Examples
        --------
        >>> Constraints.from_class_sets([{"A", "B"}, {"B", "C"}, {"C"}, "C", None])
        Constraints(5 rows: 1 must-link, 2 cannot-link (3 hard))
        """
        from coterie.constraints.class_sets import from_class_sets

        return from_class_sets(classes, per_row, weight, certainty, random_state)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        a: str,
        b: str,
        kind: str,
        weight: str | None = None,
        certainty: str | None = None,
        ids: Any = None,
        n_samples: int | None = None,
    ) -> Constraints:
        """One pair a row of any data frame; arguments name columns.

        A frame is one of pandas, polars or pyarrow, or anything with `__arrow_c_stream__` (a
        DuckDB relation).

        `ids` lists the user's id of every data row, or is a column of files
        (`coterie.data.open_column`), which is read through and not held; without it, `a` and `b`
        are row numbers and `n_samples` is needed.
        """
        from coterie.constraints.frames import from_frame

        return from_frame(frame, a, b, kind, weight, certainty, ids, n_samples)

    @classmethod
    def from_dense(cls, matrix: ArrayLike) -> Constraints:
        """From an (n, n) matrix, symmetric or triangular: +w must, −w cannot-link, 0 nothing."""
        from coterie.constraints.building import from_dense

        return from_dense(matrix)

    @classmethod
    def from_sparse(cls, matrix: Any) -> Constraints:
        """As `from_dense`, from any scipy sparse matrix or array."""
        from coterie.constraints.building import from_sparse

        return from_sparse(matrix)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Constraints:
        """Read what `save` wrote."""
        from coterie.constraints.files import load

        return load(path)
