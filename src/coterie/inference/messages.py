"""Messages along the edges of a pair graph, a few sweeps at a time, from where they stand.

For loops that change what is believed about the nodes a little and then want to know what follows
along the edges: unlike `belief_propagation` and `mean_field`, which run to the end, these go on
from the messages they are given, and a node is silent while it has no news. Every edge costs one
number if its ends are equal and one if they differ, the same for all labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.inference import _pair_message_kernels as kernels

__all__ = [
    "Messages",
    "PairFactors",
    "PairGraph",
    "edge_posterior",
    "equal_ends",
    "no_messages",
    "pair_graph",
    "send_again",
    "send_first",
    "send_messages",
]


class PairGraph(NamedTuple):
    """Nodes and the edges between them.

    Attributes
    ----------
    indptr, indices : (s + 1,), (2E,) int64
        Symmetric CSR graph: both directions of every edge.
    twin : (2E,) int64
        Position of each entry's other direction.
    edges : (E, 2) int64
        The ends i < j of each edge.
    entries : (E, 2) int64
        Its entries (i, j) and (j, i).
    """

    indptr: Array
    indices: Array
    twin: Array
    edges: Array
    entries: Array


class PairFactors(NamedTuple):
    """e^-cost (2E,) of each entry: how probable its pairs are if its ends are equal, and if not."""

    together: Array
    apart: Array


class Messages(NamedTuple):
    """What nodes have told one another so far.

    Attributes
    ----------
    along : (2E, K) float32, or (0, K) with mean field
        What the node of each entry is told along it.
    heard : (s, K), or (0, K) with belief propagation
        Sum over its neighbours of what each node has heard, in nats.
    sent : (s, K)
        The posterior of each node when it last spoke.
    """

    along: Array
    heard: Array
    sent: Array


def pair_graph(indptr: Array, indices: Array, edge_of: Array) -> PairGraph:
    """The graph of a CSR adjacency whose entries belong to the edges `edge_of` (2E,)."""
    node = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
    forth = indices > node
    entries = np.empty((indices.size // 2, 2), dtype=np.int64)
    entries[edge_of[forth], 0] = np.flatnonzero(forth)
    entries[edge_of[~forth], 1] = np.flatnonzero(~forth)
    twin = np.empty(indices.size, dtype=np.int64)
    twin[entries] = entries[:, ::-1]
    edges = np.column_stack([node[entries[:, 0]], indices[entries[:, 0]]])
    return PairGraph(indptr, indices, twin, edges, entries)


def no_messages(graph: PairGraph, n_labels: int, *, mean_field: bool) -> Messages:
    """Nothing said yet, to be passed on by belief propagation or by mean field."""
    s = graph.indptr.size - 1
    mean_field = mean_field or not graph.indices.size
    along = np.ones((0 if mean_field else graph.indices.size, n_labels), dtype=np.float32)
    heard = np.zeros((s if mean_field else 0, n_labels))
    return Messages(along, heard, np.zeros((s, n_labels)))


def send_again(messages: Messages) -> Messages:
    """The same messages, but every node has news: for factors that have changed."""
    return messages._replace(heard=np.zeros_like(messages.heard), sent=np.zeros_like(messages.sent))


def send_messages(
    prior: Array,
    graph: PairGraph,
    factors: PairFactors,
    messages: Messages,
    *,
    sweeps: int,
    tol: float,
) -> tuple[NDArray[np.float64], Messages]:
    """The posterior (s, K) of each node after some sweeps, and what has been said by then.

    With `Messages.along` it is sum-product, exact on trees after enough sweeps; else naive mean
    field, q_i(k) ∝ prior_i(k) exp(Σ_j (log together − log apart) q_j(k)).

    Parameters
    ----------
    prior : (s, K)
        Probabilities before anything is heard.
    tol : float
        A node whose posterior has changed by no more since it last spoke is silent.
    """
    said = Messages(*(part.copy() for part in messages))
    return _send(prior, graph, factors, said, sweeps, tol)


def send_first(
    prior: Array,
    graph: PairGraph,
    factors: PairFactors,
    *,
    mean_field: bool,
    sweeps: int,
    tol: float,
) -> tuple[NDArray[np.float64], Messages]:
    """`send_messages` where nothing has been said yet, which then need not be kept."""
    silent = no_messages(graph, prior.shape[1], mean_field=mean_field)
    return _send(prior, graph, factors, silent, sweeps, tol)


def _send(
    prior: Array,
    graph: PairGraph,
    factors: PairFactors,
    messages: Messages,
    sweeps: int,
    tol: float,
) -> tuple[NDArray[np.float64], Messages]:
    """What `send_messages` does; the messages are changed in place."""
    along, heard, sent = messages
    if prior.shape[1] == 1:  # nothing to choose from, and nothing to say
        return np.ones_like(prior), messages
    posterior = np.empty_like(prior)
    if len(along):
        kernels.propagate(
            prior, graph.indptr, *factors, graph.twin, sweeps, tol, along, sent, posterior
        )
    else:
        pull = np.log(factors.together) - np.log(factors.apart)
        kernels.mean_field(
            prior, graph.indptr, graph.indices, pull, sweeps, tol, heard, sent, posterior
        )
    return posterior, messages


def equal_ends(graph: PairGraph, chance: Array) -> NDArray[np.float64]:
    """Probability (E,) that the ends of each edge are equal if nodes are independent, (s, K)."""
    return _equal_ends(graph, _NOTHING_SAID, chance)


def edge_posterior(
    graph: PairGraph, factors: PairFactors, messages: Messages, posterior: Array
) -> NDArray[np.float64]:
    """Probability (E,) that the ends of each edge are equal, given what was said.

    With belief propagation the two ends are judged together, P(equal) ∝ e^-same Σ_k c_i(k) c_j(k)
    with c the posterior without what the other end said: ends that are unsure but tied are equal.
    With mean field they are independent.
    """
    equal = _equal_ends(graph, messages.along, posterior)
    if not len(messages.along):
        return equal
    entry = graph.entries[:, 0]
    joined = factors.together[entry] * equal
    return np.asarray(joined / (joined + factors.apart[entry] * (1.0 - equal)))


_NOTHING_SAID = np.empty((0, 1), dtype=np.float32)


def _equal_ends(graph: PairGraph, along: Array, chance: Array) -> NDArray[np.float64]:
    equal = np.empty(len(graph.edges))
    kernels.equal_ends(graph.edges, graph.entries, along, chance, equal)
    return equal
