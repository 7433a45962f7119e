"""What a fitted Mosaic says: where rows are in its field, pairs it doubts, numbers of clusters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._typing import Array
from coterie.cluster.mosaic.passes import Landmarks, field_map
from coterie.cluster.mosaic.space import (
    MosaicSpace,
    Placing,
    chances_of_rows,
    place_rows,
    values_of_rows,
)
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import PairTable
from coterie.data import Rows, gather
from coterie.extension import ExtensibleClusterer, Places
from coterie.validation import check_constraints, check_count

__all__ = ["FittedMosaic"]


class FittedMosaic(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ExtensibleClusterer):
    """What `Mosaic` can do once it is fitted."""

    tuning: ClassVar[Tuning]
    distortion: str
    n_clusters_: int
    suspects_: PairTable
    noise_: float
    sharpness_: float
    prototype_labels_: NDArray[np.int64]
    center_: Any
    basis_: Any
    columns_: Any
    landmarks_: Array
    whitening_: Array
    field_weights_: Array

    # -- cluster numbers, and rows that join -----------------------------------------------------
    def _count_clusters(self) -> int:
        return int(self.n_clusters_)

    def _put_in_order(self, order: NDArray[np.int64]) -> None:
        self.field_weights_ = np.ascontiguousarray(self.field_weights_[:, order])
        self.prototype_labels_ = np.argsort(order)[self.prototype_labels_]

    def _places(self, X: Any) -> Places:
        """Minus log P(k | x); a pair costs the log-odds that it is right."""
        chance = np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny)
        wrong = float(np.clip(self.noise_, 1e-3, 0.5))
        return Places(-np.log(chance), float(np.log((1 - wrong) / wrong)))

    # -- new rows ------------------------------------------------------------------------------
    def _placing(self) -> Placing:
        check_is_fitted(self)
        space = MosaicSpace(self.center_, self.basis_, self.distortion == "cosine", self.columns_)
        landmarks = Landmarks(self.landmarks_, self.whitening_, self.tuning.steepness)
        return Placing(space, field_map(landmarks, self.field_weights_), self.sharpness_)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster (n,) whose field is highest at each row; `labels_` for rows in no pair."""
        placing = self._placing()
        return place_rows(self._check_new_rows(X), placing)

    def predict_proba(self, X: Any) -> Any:
        """Probability (n, n_clusters_) of each cluster by position, softmax(sharpness_ · field).

        Of rows in files it is made as it is read.
        """
        placing = self._placing()
        return chances_of_rows(self._check_new_rows(X), placing)

    def transform(self, X: Any) -> Any:
        """The field of each cluster at each row, (n, n_clusters_): about 1 inside, 0 elsewhere.

        Of rows in files it is made as it is read.
        """
        placing = self._placing()
        return values_of_rows(self._check_new_rows(X), placing)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)

    def score(self, X: Any, y: Any = None, *, constraints: Any = None) -> float:
        """Mean log-probability of pairs between rows of X, in nats: what to maximise.

        log(ε + (1 - 2ε) a) with a the probability that the ends agree with the pair, by
        `predict_proba`, and ε how often the pair is wrong: `noise_`, or its own certainty. Give
        pairs that the fit has not heard. 0 without pairs.
        """
        placing = self._placing()
        X = self._check_new_rows(X)
        known = check_constraints(constraints, X.shape[0])
        if not known.weight.sum() > 0:
            return 0.0
        ends = np.unique(known.pairs)
        known = known.subset(ends)
        chance = chances_of_rows(gather(Rows(X), ends), placing)
        together = np.einsum("ij,ij->i", chance[known.pairs[:, 0]], chance[known.pairs[:, 1]])
        agree = np.where(known.kind > 0, together, 1.0 - together)
        wrong = np.where(np.isnan(known.certainty), self.noise_, 1.0 - known.certainty)
        wrong = np.clip(np.where(known.is_hard, 0.0, wrong), 1e-6, 0.5)
        weight = np.where(known.is_hard, 1.0, known.weight)
        return float(np.average(np.log(wrong + (1.0 - 2.0 * wrong) * agree), weights=weight))

    def suspect_pairs(self, k: int = 10) -> PairTable:
        """The `k` soft pairs most probably wrong given everything else, most doubtful first.

        `value` is the probability that the pair is wrong. At most 1,000 are kept after a fit.
        """
        check_is_fitted(self)
        return self.suspects_[: check_count("k", k)]
