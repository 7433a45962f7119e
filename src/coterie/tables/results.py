"""What a model says about rows, as columns beside theirs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Results", "results_of"]


class Results(NamedTuple):
    """Columns about rows, and what the user should know about them.

    Attributes
    ----------
    columns : dict of str to (n,) ndarray
        "cluster", and "confidence" where the model has probabilities.
    notes : list of str
    """

    columns: dict[str, NDArray[Any]]
    notes: list[str]


def results_of(
    model: Any, X: Any, labels: NDArray[Any], *, new: bool = False
) -> dict[str, NDArray[Any]]:
    """The columns cluster (n,) and, where the model has one, confidence: P(cluster).

    For the rows it was fitted to (not `new`) that takes their pairs into account, where it can.
    """
    if hasattr(model, "resp_") and not new:
        shares = model.resp_
    elif hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
    else:
        return {"cluster": labels}
    return {"cluster": labels, "confidence": np.asarray(shares)[np.arange(len(labels)), labels]}
