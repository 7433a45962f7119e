"""Loopy belief propagation: max-product for labels, sum-product for marginals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import FloatArray, IntArray
from coterie.exceptions import InvalidParameter
from coterie.inference import _loopy_kernels
from coterie.inference._kernels import RandomState
from coterie.inference._message_kernels import forest_of
from coterie.inference.contraction import on_contracted
from coterie.inference.icm import icm
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    components,
    entry_rows,
    matching_entries,
    total_energy,
)

__all__ = ["belief_propagation"]


def belief_propagation(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    marginals: bool = True,
    random_state: RandomState = None,
    damping: float = 0.5,
    max_sweeps: int = 200,
    tol: float = 1e-8,
    decode: bool = True,
    messages: FloatArray | None = None,
) -> Inference:
    """Pass messages in log space until they settle; exact on trees, in one sweep.

    A node is silent until it is told something new, so that passes cost what still changes.

    Parameters
    ----------
    labels : (s,), optional
        Not a start (messages have none): returned instead of the decoded labels if lower in energy.
    marginals : bool
        Also run sum-product, for marginals, `edge_same` and the Bethe estimate of log Z.
    damping : float in [0, 1)
        Share of the old log-message kept, on components with cycles only.
    max_sweeps, tol : int, float
        Stop when no message (as a probability) changed by more than `tol`.
    decode : bool
        Whether labels of low energy are wanted, which takes max-product messages of their own;
        False gives each node its most probable label (and needs `marginals`).
    messages : (2E, K), optional
        Where sum-product begins: ``report["messages"]`` of the same graph with other unary costs.
        Not with hard must-links, which are contracted.

    Returns
    -------
    Inference
        ``converged`` only if every run did. Labels that break a hard edge are repaired by `icm`
        (``report["repaired"]``). ``report["messages"]`` are the last of sum-product.

    Raises
    ------
    NoFeasibleLabels
        If messages contradict each other, which proves that nothing is feasible, or if the repair
        finds it so.
    """
    if not 0.0 <= damping < 1.0:
        raise InvalidParameter(f"damping must lie in [0, 1), got {damping}.")
    if not (decode or marginals):
        raise InvalidParameter("decode=False without marginals leaves nothing to do; set one.")
    start = None if labels is None else np.asarray(labels, dtype=np.int64)

    def run(small: PairwiseModel, y: IntArray | None) -> Inference:
        passing = _Messages(small, damping, max_sweeps, tol)
        found = passing.decoded(random_state) if decode else passing.undecoded()
        if marginals:
            found = passing.with_marginals(found, messages)
        if not decode and not np.isfinite(found.energy):
            found = passing.repaired(found, random_state)
        if y is None or not total_energy(small, y) < found.energy:
            return found
        return found._replace(labels=y, energy=total_energy(small, y))

    return on_contracted(model, start, run)


class _Messages:
    """One model's graph in breadth-first order, ready to pass messages."""

    def __init__(self, model: PairwiseModel, damping: float, max_sweeps: int, tol: float) -> None:
        self.model = model
        self.twin = matching_entries(model)
        count, self.component = components(model)
        sizes = np.bincount(self.component, minlength=count)
        entries = np.bincount(self.component[entry_rows(model)], minlength=count)
        loopy = entries > 2 * (sizes - 1)
        self.damping = np.where(loopy[self.component], damping, 0.0)
        self.order = forest_of(model, np.zeros(model.n_nodes, dtype=np.bool_)).order
        self.max_sweeps, self.tol = int(max_sweeps), float(tol)

    def decoded(self, random_state: RandomState) -> Inference:
        """Labels by max-product."""
        model = self.model
        message, sweeps, converged = self._propagate(largest=True)
        y = np.full(model.n_nodes, -1, dtype=np.int64)
        _loopy_kernels.decode(model, self.order, message, y)
        report: dict[str, Any] = {"repaired": False, "max_product_sweeps": sweeps}
        found = Inference(y, None, total_energy(model, y), None, sweeps, converged, report)
        return found if np.isfinite(found.energy) else self.repaired(found, random_state)

    def undecoded(self) -> Inference:
        """No labels yet."""
        y = np.zeros(self.model.n_nodes, dtype=np.int64)
        return Inference(y, None, np.inf, None, 0, True, {"repaired": False})

    def repaired(self, found: Inference, random_state: RandomState) -> Inference:
        """`found` with labels that break no hard edge."""
        other = icm(self.model, random_state=random_state)
        report = found.report | {"repaired": True}
        return found._replace(labels=other.labels, energy=other.energy, report=report)

    def with_marginals(self, found: Inference, messages: FloatArray | None) -> Inference:
        """`found` with marginals by sum-product; labels from them if it has none yet."""
        model = self.model
        message, more, settled = self._propagate(largest=False, message=messages)
        cavity = np.empty_like(message)
        q = np.empty_like(model.unary)
        edge_same = np.empty(model.indices.shape[0])
        log_z, lost = _loopy_kernels.bethe(model, self.twin, message, cavity, q, edge_same)
        self._check(lost)
        said = {"sum_product_sweeps": more, "log_partition": "Bethe estimate", "messages": message}
        labels, value = found.labels, found.energy
        if "max_product_sweeps" not in found.report:
            labels = q.argmax(axis=1)
            value = total_energy(model, labels)
        return found._replace(
            labels=labels,
            energy=value,
            marginals=q,
            log_partition=float(log_z),
            sweeps=max(found.sweeps, more),
            converged=found.converged and settled,
            report=found.report | said,
            edge_same=edge_same,
        )

    def _propagate(
        self, *, largest: bool, message: FloatArray | None = None
    ) -> tuple[FloatArray, int, bool]:
        model = self.model
        shape = (model.indices.shape[0], model.n_labels)
        if message is None:
            message = np.full(shape, 0.0 if largest else -np.log(model.n_labels))
        elif message.shape != shape:
            raise InvalidParameter(f"messages have shape {message.shape}, expected {shape}.")
        else:
            message = message.copy()
        passing = _loopy_kernels.Passing(
            self.twin, self.order, self.damping, largest, self.max_sweeps, self.tol
        )
        awake = np.ones(model.n_nodes, dtype=np.bool_)
        messages = _loopy_kernels.Messages(message, np.empty(shape), awake)
        sweeps, change, lost = _loopy_kernels.propagate(model, passing, messages)
        self._check(lost)
        return message, sweeps, bool(change <= self.tol)

    def _check(self, lost: int) -> None:
        if lost >= 0:
            nodes = np.flatnonzero(self.component == self.component[lost])
            raise NoFeasibleLabels(nodes, self.model.n_labels)
