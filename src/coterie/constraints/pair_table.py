"""`PairTable`: some of the user's pairs, each with a number, worst first."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import FloatArray, IntArray, KindArray
from coterie.exceptions import InvalidParameter

KIND_NAME = {1: "must-link", -1: "cannot-link"}
SHOWN = 10  # rows in a repr


class Pair(NamedTuple):
    """One pair of a table: rows i and j, kind (+1 must-link, −1 cannot-link) and its value."""

    i: int
    j: int
    kind: int
    value: float


class PairTable:
    """Pairs with a value each, largest value first; ties in order of (i, j, kind).

    Parameters
    ----------
    i, j : array-like (m,) of int
        Rows.
    kind : array-like (m,)
        +1 must-link, −1 cannot-link.
    value : array-like (m,)
        For `violations_`, the cost of the broken pair.
    name : str, default "cost"
        What the value is, as the column heading.

    Examples
    --------
    >>> from coterie.constraints import PairTable
    >>> table = PairTable([0, 2], [1, 3], [1, -1], [0.5, 2.0])
    >>> table[0]
    Pair(i=2, j=3, kind=-1, value=2.0)
    >>> len(table), table.value.sum()
    (2, np.float64(2.5))
    """

    __slots__ = ("i", "j", "kind", "name", "value")

    def __init__(
        self,
        i: ArrayLike,
        j: ArrayLike,
        kind: ArrayLike,
        value: ArrayLike,
        name: str = "cost",
    ) -> None:
        columns = [
            np.atleast_1d(np.asarray(column, dtype=dtype))
            for column, dtype in ((i, np.int64), (j, np.int64), (kind, np.int8), (value, float))
        ]
        if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
            raise InvalidParameter(
                "i, j, kind and value must be one-dimensional and of one length, got shapes "
                + ", ".join(str(column.shape) for column in columns)
            )
        order = np.lexsort((columns[2], columns[1], columns[0], -columns[3]))
        ordered = [column[order] for column in columns]
        for column in ordered:
            column.flags.writeable = False
        self.i: IntArray = ordered[0]
        self.j: IntArray = ordered[1]
        self.kind: KindArray = ordered[2]
        self.value: FloatArray = ordered[3]
        self.name = name

    def __len__(self) -> int:
        return self.i.size

    def __getitem__(self, index: int | slice | np.ndarray) -> Any:
        """A `Pair` for a number, a smaller table for a slice or a mask."""
        if isinstance(index, (int, np.integer)):
            return Pair(
                int(self.i[index]),
                int(self.j[index]),
                int(self.kind[index]),
                float(self.value[index]),
            )
        return PairTable(
            self.i[index], self.j[index], self.kind[index], self.value[index], self.name
        )

    def __iter__(self) -> Iterator[Pair]:
        return map(Pair, self.i.tolist(), self.j.tolist(), self.kind.tolist(), self.value.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairTable):
            return NotImplemented
        return self.name == other.name and all(
            np.array_equal(getattr(self, column), getattr(other, column))
            for column in ("i", "j", "kind", "value")
        )

    __hash__ = None  # type: ignore[assignment]

    def __coterie_state__(self) -> dict[str, Any]:
        """What the constructor takes to make an equal table; models are saved so."""
        return {column: getattr(self, column) for column in ("i", "j", "kind", "value", "name")}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Columns i, j, kind (in words) and the value, as a pandas, polars or pyarrow frame."""
        from coterie.constraints.frames import make_frame

        return make_frame(
            {"i": self.i, "j": self.j, "kind": kind_names(self.kind), self.name: self.value},
            backend,
        )

    def __repr__(self) -> str:
        if not len(self):
            return "PairTable(no pairs)"
        lines = [f"PairTable({len(self)} pairs, worst first)"]
        lines.append(f"{'i':>8} {'j':>8}  {'kind':<12}{self.name:>12}")
        lines += [
            f"{i:>8} {j:>8}  {KIND_NAME[kind]:<12}{value:>12.6g}"
            for i, j, kind, value in self[:SHOWN]
        ]
        return "\n".join(lines + self._more())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in ("i", "j", "kind", self.name))
        body = "".join(
            f"<tr><td>{i}</td><td>{j}</td><td>{KIND_NAME[kind]}</td><td>{value:.6g}</td></tr>"
            for i, j, kind, value in self[:SHOWN]
        )
        caption = f"{len(self)} pairs, worst first"
        more = "".join(f"<p>{line.strip()}</p>" for line in self._more())
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{more}"
        )

    def _more(self) -> list[str]:
        hidden = len(self) - SHOWN
        return [f"  … and {hidden} more"] if hidden > 0 else []


def kind_names(kind: KindArray) -> np.ndarray:
    """+1 / −1 as "must-link" / "cannot-link"."""
    return np.where(kind > 0, KIND_NAME[1], KIND_NAME[-1])
