"""New rows join the clusters of a fitted model: under all answers, for what the new rows cost.

Rows of the fit stay where they are, so pairs with them are costs of a new row's own label; only
pairs between new rows are left to an inference engine. A row that is told apart from every cluster,
or that costs more in each than a new cluster, founds one, where the model has a place for it.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.base import ConstrainedClusterer, broken_pairs, in_memory
from coterie.constraints import Constraints, PairTable
from coterie.constraints.exclusive import written_for
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints

__all__ = [
    "ExtensibleClusterer",
    "Placed",
    "Places",
    "check_extension",
    "place_rows",
    "refuse_broken",
]


class Places(NamedTuple):
    """What a fitted model offers to new rows.

    Attributes
    ----------
    costs : (m, K) float64
        What each cluster costs each new row.
    price : float
        What a broken pair of weight 1 costs.
    founding : float
        What a new cluster costs; inf where only rows that are told apart from all clusters found
        one.
    found : callable or None
        ``found(rows)`` gives what a cluster founded by these new rows costs every new row, (m,);
        None where the model has no place for another cluster.
    """

    costs: FloatArray
    price: float
    founding: float = np.inf
    found: Callable[[IntArray], FloatArray] | None = None


class Placed(NamedTuple):
    """Labels (m,) of new rows, and the rows that founded each new cluster, K, K + 1, ..."""

    labels: IntArray
    founders: list[IntArray]


def place_rows(places: Places, pairs: Constraints, old: NDArray[Any], seed: int = 0) -> Placed:
    """Labels of new rows beside rows with labels `old` (n,), which keep theirs.

    Parameters
    ----------
    pairs : Constraints
        Of n + m rows, those of the fit first.

    Raises
    ------
    InfeasibleConstraints
        If hard pairs leave no cluster for a row, or the old labels break one.
    """
    told = _Told.of(pairs, old)
    m, k = places.costs.shape
    inner = pairs.subset(np.arange(old.size, pairs.n_samples))
    nodes = _Nodes.of(inner)
    unary = places.costs + told.cost(m, k, places.price)
    founded = np.zeros(m) if places.found is None else told.cost_of_new(m, places.price)
    founders: list[IntArray] = []
    done: list[int] = []
    while True:
        stuck = _stuck(nodes, unary, founded, told, places)
        stuck = stuck[~np.isin(stuck, done)]  # whose own cluster still costs more stays in it
        labels: IntArray | None = None
        if not stuck.size:
            labels, stuck = _label(inner, nodes, unary, places.price, seed)
        if labels is not None:
            return _without_empty(labels, founders, k)
        rows = nodes.rows(int(stuck[0]))
        if places.found is None or not np.isfinite(founded[rows]).all():
            raise _no_place(pairs, old, rows, k + len(founders))
        founders.append(rows)
        done.append(int(stuck[0]))
        unary = np.column_stack([unary, places.found(rows) + founded])


class ExtensibleClusterer(ConstrainedClusterer):
    """A clusterer whose fitted clusters new rows can join."""

    violations_: PairTable

    def extend(self, X: Any, *, constraints: Any = None) -> NDArray[Any]:
        """Let new rows join the clusters, under all answers; rows of the fit stay where they are.

        `labels_` grows by the new rows' labels and `violations_` by the pairs of theirs that are
        broken; numbers and centres of clusters stay. A row that is told apart from every cluster
        founds a new one, with the next number, where the model has a place for it (K-Means family,
        `DPMeans`, `RDPMeans`, `ConstrainedCompleteLink`); in `DPMeans` and `RDPMeans` also one
        that is farther than lambda from all. Sizes (`min_size`, `max_size`) are those of the fit.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            The new rows, in memory.
        constraints : Constraints, optional
            Pairs of n + m rows: those that `labels_` has, then the new ones. Between two rows of
            the fit only hard pairs matter, which must hold already.

        Returns
        -------
        labels : (m,)
            Those of the new rows.

        Raises
        ------
        InfeasibleConstraints
            If hard pairs leave no cluster for a new row; nothing is changed then.
        """
        check_is_fitted(self)
        return self._join(in_memory(self._check_new_rows(X)), constraints)

    def _join(self, X: Any, constraints: Any) -> NDArray[Any]:
        """`extend` by rows that were checked."""
        with warnings.catch_warnings():
            # Their columns were looked at; the arrays that models are asked about have no names.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return self._place(X, constraints)

    def _place(self, X: Any, constraints: Any) -> NDArray[Any]:
        places = self._places(X)
        n_old = self.labels_.size
        pairs = check_extension(constraints, n_old, X.shape[0])
        pairs = self._pairs_of_new_rows(written_for(pairs, f"{type(self).__name__}.extend"))
        placed = place_rows(places, pairs, self.labels_)
        self._admit(X, placed)
        added = placed.labels.astype(self.labels_.dtype)
        self.labels_ = np.append(self.labels_, added)
        self.violations_ = self._violations_with(pairs, n_old, places.price)
        return added

    def _violations_with(self, pairs: Constraints, n_old: int, price: float) -> PairTable:
        """What is broken, with pairs of new rows."""
        cost = np.where(pairs.is_hard, np.inf, price * np.where(pairs.is_hard, 0, pairs.cost()))
        found, known = broken_pairs(self.labels_, pairs, cost), self.violations_
        new = (found.i >= n_old) | (found.j >= n_old)
        if not new.any():
            return known
        i, j, kind, value = (
            np.concatenate([getattr(known, name), getattr(found, name)[new]])
            for name in ("i", "j", "kind", "value")
        )
        return PairTable(i, j, kind, value, known.name)

    @abstractmethod
    def _places(self, X: Any) -> Places:
        """What the clusters cost new rows X (m, d)."""

    def _pairs_of_new_rows(self, pairs: Constraints) -> Constraints:
        """The pairs as the estimator understands them."""
        return pairs

    def _admit(self, X: Any, placed: Placed) -> None:
        """Take note of rows that join: new clusters, and what is kept for each row."""


class _Told(NamedTuple):
    """Pairs between a new row and an old one."""

    row: IntArray  # (c,) the new row, counted from 0
    label: IntArray  # (c,) the cluster of the old one; negative: in none
    must: BoolArray  # (c,)
    weight: FloatArray  # (c,) inf where hard

    @classmethod
    def of(cls, pairs: Constraints, old: NDArray[Any]) -> _Told:
        n = old.size
        new = pairs.pairs >= n
        refuse_broken(pairs, old)
        cross = np.flatnonzero(new.sum(axis=1) == 1)
        i, j = pairs.pairs[cross].min(axis=1), pairs.pairs[cross].max(axis=1)
        hard = pairs.is_hard[cross]
        weight = np.where(hard, np.inf, np.where(hard, 0.0, pairs.cost()[cross]))
        label = old[i].astype(np.int64)
        lost = label < 0  # an outlier is no cluster that a row could join or stay out of
        return cls((j - n)[~lost], label[~lost], (pairs.kind[cross] > 0)[~lost], weight[~lost])

    def _paid(self, price: float) -> FloatArray:
        hard = np.isinf(self.weight)
        return np.where(hard, np.inf, price * np.where(hard, 0.0, self.weight))

    def cost(self, m: int, k: int, price: float) -> FloatArray:
        """What these pairs add to each new row's labels, (m, K)."""
        must, cannot = np.zeros((2, m, k))
        paid = self._paid(price)
        np.add.at(cannot, (self.row[~self.must], self.label[~self.must]), paid[~self.must])
        for row, label, value in zip(
            self.row[self.must], self.label[self.must], paid[self.must], strict=True
        ):
            must[row, :label] += value
            must[row, label + 1 :] += value
        return must + cannot

    def cost_of_new(self, m: int, price: float) -> FloatArray:
        """What they add in a new cluster, (m,): the must-links."""
        paid = self._paid(price)
        out = np.zeros(m)
        np.add.at(out, self.row[self.must], paid[self.must])
        return out

    def apart(self, m: int, k: int) -> BoolArray:
        """Which rows are told apart from every one of k clusters, (m,)."""
        said = np.zeros((m, k), dtype=bool)
        counts = ~self.must & (self.weight > 0)
        said[self.row[counts], self.label[counts]] = True
        return np.asarray(said.all(axis=1))


class _Nodes(NamedTuple):
    """New rows that hard must-links join."""

    of_row: IntArray  # (m,)
    n_nodes: int

    @classmethod
    def of(cls, inner: Constraints) -> _Nodes:
        from coterie.constraints.graph import connected

        return cls(*connected(inner.pairs[inner.is_hard & (inner.kind > 0)], inner.n_samples))

    def rows(self, node: int) -> IntArray:
        """The rows of a node."""
        return np.flatnonzero(self.of_row == node)

    def summed(self, values: FloatArray) -> FloatArray:
        """Values (m, …) of rows summed by node."""
        out = np.zeros((self.n_nodes, *values.shape[1:]))
        np.add.at(out, self.of_row, values)
        return out


def _stuck(
    nodes: _Nodes,
    unary: FloatArray,
    founded: FloatArray,
    told: _Told,
    places: Places,
) -> IntArray:
    """Nodes (·,) that no cluster takes, or that found one: the first row first."""
    m, k = places.costs.shape
    cost = nodes.summed(unary)
    least = cost.min(axis=1) if cost.shape[1] else np.full(nodes.n_nodes, np.inf)
    out = np.isinf(least)
    if places.found is not None:
        own = nodes.summed(founded)
        if cost.shape[1] == k:  # a cluster that is new is one that nobody is told apart from
            apart = np.zeros(nodes.n_nodes, dtype=bool)
            apart[nodes.of_row[told.apart(m, k)]] = True
            out |= apart & np.isfinite(own)
        out |= np.isfinite(own) & (least >= places.founding + own)
    return np.flatnonzero(out)


def _label(
    inner: Constraints, nodes: _Nodes, unary: FloatArray, price: float, seed: int
) -> tuple[IntArray | None, IntArray]:
    """Labels (m,) of the new rows; or None, and nodes that one more cluster would help."""
    from coterie.inference import NoFeasibleLabels, icm, least_energy, pairwise_model

    labels = np.asarray(unary.argmin(axis=1))
    core = inner.core()
    if not core.rows.size:
        return labels, np.empty(0, dtype=np.int64)
    cost = np.where(inner.is_hard, np.inf, price * np.where(inner.is_hard, 0.0, inner.cost()))
    same, differ = core.costs(cost)
    model = pairwise_model(core.contract(unary[core.rows]), core.indptr, core.indices, same, differ)
    try:
        found = icm(model, random_state=seed).labels
        # Without time for programs: exact where components are narrow, and the same every time.
        found = least_energy(model, found, random_state=seed, time_limit=0.0).labels
    except NoFeasibleLabels as error:
        return None, nodes.of_row[core.first_rows[np.sort(error.nodes)[::-1]]]
    labels[core.rows] = core.expand(found)
    return labels, np.empty(0, dtype=np.int64)


def _without_empty(labels: IntArray, founders: list[IntArray], k: int) -> Placed:
    """New clusters that nobody stayed in are none; the others are numbered on from K."""
    used = [number for number in range(len(founders)) if (labels == k + number).any()]
    number = np.arange(k + len(founders))
    for at, old in enumerate(used):
        number[k + old] = k + at
    return Placed(number[labels], [founders[at] for at in used])


def refuse_broken(pairs: Constraints, old: NDArray[Any]) -> None:
    """Refuse hard pairs of two old rows, with labels `old` (n,), that those labels break."""
    i, j = pairs.pairs.T
    at = np.flatnonzero((j < old.size) & pairs.is_hard)
    broken = at[(old[i[at]] == old[j[at]]) != (pairs.kind[at] > 0)]
    if broken.size:
        first = int(broken[0])
        word = "must-link" if pairs.kind[first] > 0 else "cannot-link"
        raise InfeasibleConstraints(
            f"the {word} of rows {i[first]} and {j[first]} is hard, and the clusters of the fit, "
            "which extend keeps, break it; call fit on all rows.",
            pairs.only("must" if pairs.kind[first] > 0 else "cannot"),
        )


def _no_place(
    pairs: Constraints, old: NDArray[Any], rows: IntArray, k: int
) -> InfeasibleConstraints:
    """The error of new rows that hard pairs leave no cluster."""
    mine = np.isin(pairs.pairs, rows + old.size).any(axis=1) & pairs.is_hard
    conflict = Constraints.from_arrays(
        pairs.n_samples, pairs.pairs[mine], pairs.kind[mine], weight=np.inf
    )
    shown = ", ".join(map(str, rows[:5] + old.size)) + (", …" if rows.size > 5 else "")
    return InfeasibleConstraints(
        f"hard pairs of new row {shown} leave none of {k} clusters for it, and the model has no "
        "place for another. Soften one of the pairs in .conflict, or call fit on all rows with "
        "more clusters.",
        conflict,
    )


def check_extension(constraints: Any, n_old: int, n_new: int) -> Constraints:
    """Pairs of old and new rows together, old ones first."""
    if constraints is None:
        return Constraints(n_old + n_new)
    if not isinstance(constraints, Constraints) or constraints.n_samples != n_old + n_new:
        got = getattr(constraints, "n_samples", type(constraints).__name__)
        raise InvalidConstraints(
            f"constraints must be Constraints of {n_old + n_new} rows, the {n_old} of the fit and "
            f"then the {n_new} new ones, got {got}. Pairs of the first alone: "
            "constraints.relabel(numpy.arange(n_old), n_old + n_new)."
        )
    return constraints
