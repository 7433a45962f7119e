"""`pair_score`: how far predicted clusters keep pairs that were held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from coterie.constraints import Constraints
from coterie.exceptions import InvalidConstraints
from coterie.parameters import check_arguments
from coterie.validation import check_constraints

__all__ = ["pair_score"]


def pair_score(
    estimator: Any, X: Any, y: Any = None, *, constraints: Constraints | None = None
) -> float:
    """Share of the pairs that `estimator.predict(X)` keeps, must- and cannot-links weighing alike.

    A scorer for GridSearchCV and cross_val_score, which hand it the constraints of the rows they
    score if `sklearn.set_config(enable_metadata_routing=True)`; with `cv=PairKFold(constraints)`
    those are the pairs that were held out. The mean of two shares, each by weight (a hard pair
    weighs 1), so that neither one cluster for all nor one for each row looks good; where there
    are pairs of one kind only, that kind's share.

    Parameters
    ----------
    estimator : fitted estimator with `predict`
    X : array-like of shape (n_samples, n_features)
    y : ignored
    constraints : Constraints
        Pairs over the rows of X.

    Returns
    -------
    float
        0 to 1, higher is better; NaN where there is no pair.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints, PCKMeans, pair_score
    >>> X = np.array([[0.0], [0.2], [5.0], [5.3]])
    >>> known = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3)])
    >>> pair_score(PCKMeans(2, random_state=0).fit(X), X, constraints=known)
    0.75
    """
    check_arguments(pair_score, locals())
    if constraints is None:
        raise InvalidConstraints(
            "pair_score needs the constraints of the rows it scores. In GridSearchCV and "
            "cross_val_score they are handed on if sklearn.set_config("
            "enable_metadata_routing=True) was called; outside, pass constraints=..."
        )
    labels = np.asarray(estimator.predict(X))
    known = check_constraints(constraints, labels.shape[0])
    together = labels[known.pairs[:, 0]] == labels[known.pairs[:, 1]]
    kept = together == (known.kind > 0)
    weight = np.where(known.is_hard, 1.0, known.weight)
    shares = [_share(kept[of], weight[of]) for of in (known.kind > 0, known.kind < 0)]
    given = [share for share in shares if share is not None]
    return float(np.mean(given)) if given else float("nan")


def _share(kept: NDArray[np.bool_], weight: NDArray[np.float64]) -> float | None:
    total = weight.sum()
    return float(weight[kept].sum() / total) if total > 0 else None


def _routing() -> MetadataRequest:
    """What scikit-learn asks a scorer: this one wants the constraints of the scored rows."""
    request = MetadataRequest(owner="pair_score")
    request.score.add_request(param="constraints", alias=True)
    return request


pair_score.get_metadata_routing = _routing  # type: ignore[attr-defined]
