"""Cross-validation with constraints: splits that respect pairs, and a score made of pairs."""

from __future__ import annotations

from coterie.model_selection.pair_k_fold import PairKFold
from coterie.model_selection.scoring import pair_score

__all__ = ["PairKFold", "pair_score"]
