"""Rows to clusters of bounded sizes at least cost: a transport problem, solved exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import FloatArray, IntArray
from coterie.inference._transport_kernels import ship

__all__ = ["Shipment", "transport"]

_FEW = 2_000  # rows that are sent without a smaller problem first
_A_CLUSTER = 20  # or so many for each cluster, if that is more
_STRIDE = 4


class Shipment(NamedTuple):
    """Labels (n,) of least cost, and the price (K,) of a place in each cluster.

    A row is where cost + price is least; a price above 0 is that of a full cluster, below 0 that
    of one that would have too few.
    """

    labels: IntArray
    price: FloatArray
    cost: float


def transport(cost: FloatArray, low: IntArray, high: IntArray) -> Shipment:
    """Labels of least Σ_i cost[i, y_i] with low ≤ rows of each cluster ≤ high.

    Successive shortest paths over the K clusters. They start from the prices that every fourth row
    has for itself, under bounds in proportion, so that few rows are left to be moved: prices decide
    how long it takes, never the result.

    Parameters
    ----------
    cost : (n, K) float64
    low, high : (K,) int64
        Σ low ≤ n ≤ Σ high.
    """
    n, k = cost.shape
    cost = np.ascontiguousarray(cost, dtype=np.float64)
    high = np.minimum(high, n)
    price = np.zeros(k)
    if n > max(_FEW, _A_CLUSTER * k):
        part = cost[::_STRIDE]
        share = len(part) / n
        fewest = np.floor(low * share).astype(np.int64)
        most = np.ceil(high * share).astype(np.int64)
        price = transport(part, fewest, most).price
    # Only a full cluster has its price, only one at its least has a bounty.
    price = np.where(high < n, price, np.minimum(price, 0.0))
    price = np.where(low > 0, price, np.maximum(price, 0.0))
    labels = np.argmin(cost + price, axis=1).astype(np.int64)
    held = np.bincount(labels, minlength=k)
    flow = np.clip(held, low, high)
    flow = np.where(price > 0, high, np.where(price < 0, low, flow)).astype(np.int64)
    prices = np.append(price, 0.0)
    ship(cost, labels, flow, low.astype(np.int64), high.astype(np.int64), prices)
    value = float(cost[np.arange(n), labels].sum())
    return Shipment(labels, prices[:-1] - prices[-1], value)
