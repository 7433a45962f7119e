"""Answers about whole clusters: merge, split, move, keep out, pin, name, reject.

Each becomes answers about pairs of representatives, the rows nearest the middle of a cluster, and
is one step of the log. Names are bound to rows, so that they outlive cluster numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coterie.active.piles import Said, check_piles
from coterie.active.session_rows import taken
from coterie.data import StoredRows
from coterie.exceptions import InvalidParameter

__all__ = ["ClusterAnswers"]

_REPRESENTATIVES = 3
_READ = 4_096  # rows of a cluster in files that are looked at for representatives


class ClusterAnswers(ABC):
    """What a session can be told about the clusters that `labels()` gives at the moment."""

    _rows: Any

    @abstractmethod
    def labels(self) -> NDArray[Any]:
        """Clusters of all rows, (n,)."""

    @abstractmethod
    def _tell_step(
        self,
        said: Sequence[Said],
        phase: str,
        certainty: float | None,
        annotator: str | None,
        despite_clash: bool,
        names: Sequence[tuple[int, str]] = (),
    ) -> Self:
        """Record answers and names as one step."""

    @abstractmethod
    def _named_rows(self) -> dict[str, list[int]]:
        """Names in force and the rows they were given to."""

    # -- what can be said ------------------------------------------------------------------
    def merge(self, a: int, b: int, **how: Any) -> Self:
        """Clusters `a` and `b` are one: their representatives belong together.

        `how` (here and below) is `certainty`, `annotator` and `despite_clash`, as in `tell`.
        """
        if a == b:
            raise InvalidParameter(f"merge({a}, {b}): give two different clusters.")
        first, second = self._representatives(a), self._representatives(b)
        said: list[Said] = [((row, first[0]), "same") for row in second]
        said += [((row, second[0]), "same") for row in first[1:]]
        return self._say(said, "merge", **how)

    def split(self, cluster: int, parts: Any, **how: Any) -> Self:
        """The cluster is several: `parts` are piles of its rows, or the rows of one part.

        Rows of a pile belong together, and piles do not. If one part is listed, it is parted from
        the representatives of the rest.
        """
        inside = self._members(cluster).tolist()
        nested = len(parts) > 0 and isinstance(parts[0], (list, tuple, np.ndarray, set))
        piles = check_piles(parts if nested else [parts], inside)
        if not piles:
            raise InvalidParameter(f"split({cluster}, {parts!r}): no row is listed.")
        said: list[Said] = [((row, pile[0]), "same") for pile in piles for row in pile[1:]]
        if len(piles) == 1:
            rest = np.setdiff1d(inside, piles[0])
            if not rest.size:
                raise InvalidParameter(f"split({cluster}, ...): all of its rows are listed.")
            said += [((row, piles[0][0]), "different") for row in self._middle(rest)]
        said += [((b[0], a[0]), "different") for a, b in combinations(piles, 2)]
        return self._say(said, "split", **how)

    def move(self, rows: int | Iterable[int], cluster: int, **how: Any) -> Self:
        """The rows belong to `cluster`, and not where they are now."""
        targets = self._representatives(cluster)
        labels = self.labels()
        said: list[Said] = []
        for row in self._checked(rows):
            said += [((row, target), "same") for target in targets if row != target]
            if labels[row] != cluster:
                others = self._members(int(labels[row]))
                others = others[others != row]
                if others.size:
                    said.append(((row, self._middle(others)[0]), "different"))
        return self._say(said, "move", **how)

    def pin(self, row: int, cluster: int, **how: Any) -> Self:
        """The row belongs to `cluster` for certain: hard pairs with its representatives."""
        members = self._members(cluster)
        members = members[members != row]
        if not members.size:
            raise InvalidParameter(f"pin({row}, {cluster}): the cluster has no other row.")
        (row,) = self._checked(row)
        # Several: one could as well go to the row's cluster.
        said: list[Said] = [((row, other), "same") for other in self._middle(members)]
        return self._say(said, "pin", 1.0, **how)

    def reject(self, cluster: int, **how: Any) -> Self:
        """The rows of the cluster do not belong together: rows far apart in it are different."""
        inside = self._members(cluster)
        if inside.size < 2:
            raise InvalidParameter(f"reject({cluster}): the cluster has one row only.")
        far = self._far_apart(inside)
        return self._say([((b, a), "different") for a, b in combinations(far, 2)], "reject", **how)

    def keep_out(self, rows: int | Iterable[int], cluster: int, **how: Any) -> Self:
        """None of the rows belongs to `cluster`: they differ from its representatives.

        Rows that are among its representatives differ from the other ones.
        """
        listed = self._checked(rows)
        members = np.setdiff1d(self._members(cluster), listed)
        if not members.size:
            raise InvalidParameter(
                f"keep_out(..., {cluster}): these are all rows of the cluster; see reject."
            )
        stands = self._middle(members)[0]
        return self._say([((row, stands), "different") for row in listed], "keep out", **how)

    def name(self, cluster: int, name: str, *, annotator: str | None = None) -> Self:
        """Call the cluster so; an empty name takes its name away.

        The name is bound to representatives and goes wherever most of them go.
        """
        rows = self._representatives(cluster)
        rows = list(rows) if name else self._members(cluster).tolist()
        called = {row for given in self._named_rows().values() for row in given}
        rows = rows if name else [row for row in rows if row in called]
        if not rows:
            raise InvalidParameter(f"name({cluster}, ''): the cluster has no name.")
        return self._tell_step((), "name", None, annotator, False, [(row, name) for row in rows])

    @property
    def names(self) -> dict[int, str]:
        """The name of each cluster of `labels()` that has one: that most of its named rows have."""
        labels = self.labels()
        votes: dict[int, Counter[str]] = {}
        for name, rows in self._named_rows().items():
            cluster, count = Counter(labels[rows].tolist()).most_common(1)[0]
            votes.setdefault(cluster, Counter())[name] = count
        return {cluster: found.most_common(1)[0][0] for cluster, found in sorted(votes.items())}

    # -- rows that speak for a cluster -----------------------------------------------------
    def _say(
        self,
        said: Sequence[Said],
        phase: str,
        certainty: float | None = None,
        annotator: str | None = None,
        despite_clash: bool = False,
    ) -> Self:
        if not said:
            raise InvalidParameter(f"{phase}: that says nothing new.")
        return self._tell_step(said, phase, certainty, annotator, despite_clash)

    def _checked(self, rows: int | Iterable[int]) -> list[int]:
        listed = [rows] if isinstance(rows, (int, np.integer)) else list(rows)
        for row in listed:
            if not 0 <= row < self._rows.shape[0]:
                raise InvalidParameter(
                    f"row {row} is not one of the rows 0 to {self._rows.shape[0] - 1}."
                )
        return [int(row) for row in listed]

    def _members(self, cluster: int) -> NDArray[np.int64]:
        labels = self.labels()
        found = np.flatnonzero(labels == cluster)
        if not found.size:
            there = ", ".join(map(str, np.unique(labels)[:20].tolist()))
            raise InvalidParameter(f"there is no cluster {cluster}; clusters are {there}.")
        return found

    def _representatives(self, cluster: int) -> list[int]:
        return self._middle(self._members(cluster))

    def _taken(self, rows: NDArray[np.int64]) -> Any:
        return taken(self._rows, rows)

    def _some(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows, or of many that would have to be read some that stand for them."""
        if not isinstance(self._rows, StoredRows) or rows.size <= _READ:
            return rows
        return rows[np.linspace(0, rows.size - 1, _READ).astype(np.int64)]

    def _middle(self, rows: NDArray[np.int64]) -> list[int]:
        """The rows nearest the mean of these, the nearest first."""
        rows = self._some(rows)
        gap = self._gaps(rows, np.asarray(self._taken(rows).mean(axis=0)).reshape(1, -1))
        return [int(row) for row in rows[np.argsort(gap, kind="stable")[:_REPRESENTATIVES]]]

    def _far_apart(self, rows: NDArray[np.int64]) -> list[int]:
        """Rows chosen farthest first, from the one farthest from the mean."""
        rows = self._some(rows)
        gap = self._gaps(rows, np.asarray(self._taken(rows).mean(axis=0)).reshape(1, -1))
        chosen = [int(gap.argmax())]
        gap = np.full(rows.size, np.inf)
        while len(chosen) < min(_REPRESENTATIVES, rows.size):
            last = self._taken(rows[chosen[-1:]])
            last = last.toarray() if hasattr(last, "toarray") else last
            gap = np.minimum(gap, self._gaps(rows, np.asarray(last)))
            chosen.append(int(gap.argmax()))
        return [int(rows[at]) for at in chosen]

    def _gaps(self, rows: NDArray[np.int64], point: NDArray[Any]) -> NDArray[np.float64]:
        """Squared distances (·,) of the rows from a point (1, d)."""
        part = self._taken(rows)
        if hasattr(part, "multiply"):
            own = np.asarray(part.multiply(part).sum(axis=1)).ravel()
            return own - 2 * np.asarray(part @ point.T).ravel() + float(np.square(point).sum())
        return np.asarray(np.square(part - point).sum(axis=1), dtype=np.float64)
