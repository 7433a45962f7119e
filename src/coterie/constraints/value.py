"""The arrays that `Constraints` are: held, compared, shown and weighed, and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._typing import BoolArray, FloatArray, IntArray, KindArray
from coterie.constraints._input import CANNOT, MUST, PairArrays
from coterie.exceptions import InvalidParameter

if TYPE_CHECKING:
    from coterie.constraints.exclusive import ExclusiveGroups

__all__ = ["PLAIN_CERTAINTY", "FrozenPairs", "cost", "strength"]

PLAIN_CERTAINTY = 0.95  # a pair of this certainty and weight 1 costs exactly w


class FrozenPairs:
    """Pairs in canonical form and exclusive groups; see `Constraints`, the only kind there is."""

    __slots__ = ("certainty", "exclusive", "is_hard", "kind", "n_samples", "pairs", "weight")

    n_samples: int
    pairs: IntArray
    kind: KindArray
    weight: FloatArray
    certainty: FloatArray
    is_hard: BoolArray
    exclusive: ExclusiveGroups

    # -- what it holds -------------------------------------------------------------------------

    @property
    def n_pairs(self) -> int:
        """Number of pairs, m."""
        return self.pairs.shape[0]

    @property
    def must_link(self) -> IntArray:
        """The must-link pairs, (·, 2)."""
        return _read_only(self.pairs[self.kind == MUST])

    @property
    def cannot_link(self) -> IntArray:
        """The cannot-link pairs, (·, 2)."""
        return _read_only(self.pairs[self.kind == CANNOT])

    def strength(self, default_certainty: float = PLAIN_CERTAINTY) -> FloatArray:
        """Strength (m,) in nats: weight · log(γ / (1 − γ)); inf if hard, 0 if the weight is 0.

        `default_certainty` stands in for γ where none was given.
        """
        return strength(self.weight, self.certainty, self.is_hard, default_certainty)

    def cost(self, w: float = 1.0, default_certainty: float = PLAIN_CERTAINTY) -> FloatArray:
        """What breaking each pair costs (m,): w · strength / log(.95 / .05); inf if hard.

        A plain pair (weight 1, no certainty) costs exactly `w` under the default certainty.
        """
        return cost(self.strength(default_certainty), w)

    def _arrays(self) -> PairArrays:
        return PairArrays(self.pairs, self.kind, self.weight, self.certainty)

    # -- as scikit-learn sees it ---------------------------------------------------------------

    @property
    def shape(self) -> tuple[int]:
        """(n_samples,): what scikit-learn takes for the rows it may be cut by."""
        return (self.n_samples,)

    def __len__(self) -> int:
        """Rows, as of every argument that is cut together with X; pairs are `n_pairs`."""
        return self.n_samples

    def __bool__(self) -> bool:
        return True

    # Rows of a Constraints are no values that could be walked through, or made an array of.
    __iter__ = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        whole = np.empty((), dtype=object)
        whole[()] = self
        return whole

    # -- a frozen value ------------------------------------------------------------------------

    def _freeze(self, n_samples: int, canonical: PairArrays, groups: ExclusiveGroups) -> None:
        set_once = object.__setattr__
        set_once(self, "n_samples", n_samples)
        set_once(self, "exclusive", type(groups)(*map(_read_only, groups)))
        for name, values in canonical._asdict().items():
            set_once(self, name, _read_only(np.ascontiguousarray(values)))
        certain = np.isinf(self.weight) | ((self.certainty == 1.0) & (self.weight > 0))
        set_once(self, "is_hard", _read_only(certain))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"Constraints is frozen: cannot set {name!r}. Build a new one, for instance with +, "
            "only, subset, as_hard or as_soft"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Constraints is frozen: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenPairs):
            return NotImplemented
        return (
            self.n_samples == other.n_samples
            and np.array_equal(self.pairs, other.pairs)
            and np.array_equal(self.kind, other.kind)
            and np.array_equal(self.weight, other.weight)
            and np.array_equal(self.certainty, other.certainty, equal_nan=True)
            and self.exclusive.same(other.exclusive)
        )

    def __hash__(self) -> int:
        groups = self.exclusive.rows.tobytes()
        return hash((self.n_samples, self.pairs.tobytes(), self.kind.tobytes(), groups))

    def __repr__(self) -> str:
        parts = []
        for kind, word in ((MUST, "must-link"), (CANNOT, "cannot-link")):
            of_kind = self.kind == kind
            hard = int((of_kind & self.is_hard).sum())
            parts.append(f"{int(of_kind.sum())} {word}" + (f" ({hard} hard)" if hard else ""))
        if self.exclusive.n_groups:
            hard = int(self.exclusive.is_hard.sum())
            parts.append(
                f"{self.exclusive.n_groups} exclusive groups" + (f" ({hard} hard)" if hard else "")
            )
        return f"Constraints({self.n_samples} rows: {', '.join(parts)})"


def _read_only(values: Any) -> Any:
    values.flags.writeable = False
    return values


def strength(
    weight: FloatArray, certainty: FloatArray, is_hard: BoolArray, default_certainty: float
) -> FloatArray:
    """weight · log(γ / (1 − γ)) nats (m,), per unordered pair; inf if hard, 0 if the weight is 0.

    Equation 2.15 of Lu and Leen (2007) prints ½ log: its sum runs over ordered pairs.
    """
    if not 0.5 < default_certainty < 1:
        raise InvalidParameter(
            f"default_certainty={default_certainty!r} must lie between 0.5 and 1; "
            "use as_hard() for pairs that must never be broken"
        )
    gamma = np.where(np.isnan(certainty), default_certainty, certainty)
    out = np.where(is_hard, np.inf, 0.0)
    # γ = 1 or an infinite weight makes a pair hard, unless its weight is 0: it counts zero times.
    finite = ~is_hard & (weight > 0)
    out[finite] = weight[finite] * np.log(gamma[finite] / (1.0 - gamma[finite]))
    return out


def cost(strength: FloatArray, w: float) -> FloatArray:
    """w · strength / log(.95 / .05) (m,), so that a plain pair costs exactly w; inf if hard."""
    plain = np.log(PLAIN_CERTAINTY / (1.0 - PLAIN_CERTAINTY))
    hard = np.isinf(strength)
    return np.where(hard, np.inf, w * (np.where(hard, 0.0, strength) / plain))
