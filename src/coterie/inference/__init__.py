"""Inference engines over arrays: labels of low energy and marginals of a pairwise model."""

from __future__ import annotations

from coterie.inference.elimination import ExactPlan, eliminate, exact_plan
from coterie.inference.feasible import NoFeasibleLabels, exact_map, feasible_start
from coterie.inference.icm import IcmPlan, icm, icm_plan
from coterie.inference.model import Inference, PairwiseModel, energy, pairwise_model

__all__ = [
    "ExactPlan",
    "eliminate",
    "exact_plan",
    "IcmPlan",
    "Inference",
    "NoFeasibleLabels",
    "PairwiseModel",
    "energy",
    "exact_map",
    "feasible_start",
    "icm",
    "icm_plan",
    "pairwise_model",
]
