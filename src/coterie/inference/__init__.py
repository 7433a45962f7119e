"""Inference engines over arrays: labels of low energy and marginals of a pairwise model."""

from __future__ import annotations

from coterie.inference._kernels import draw_seed
from coterie.inference._local_search import IcmPlan, Savings, icm_plan
from coterie.inference.auto import auto
from coterie.inference.belief_propagation import belief_propagation
from coterie.inference.elimination import ExactPlan, eliminate, exact_plan
from coterie.inference.exclusive import NodeGroups, group_energy, label_with_groups
from coterie.inference.feasible import feasible_start
from coterie.inference.forest import spanning_forest
from coterie.inference.gibbs import gibbs
from coterie.inference.icm import (
    Crowd,
    better_by_component,
    crowd_model,
    crowd_of,
    icm,
    polish,
    restart_crowd,
)
from coterie.inference.least_energy import least_energy
from coterie.inference.linear_program import linear_program
from coterie.inference.mean_field import mean_field
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    cheapest_labels,
    components,
    energy,
    pair_energy,
    pairwise_model,
    subgraph,
)
from coterie.inference.plain_icm import plain_icm
from coterie.inference.registry import ENGINES, Engine, engines, infer
from coterie.inference.sized import SizedLabels, SizedModel, label_with_sizes, prove_sized
from coterie.inference.structured import TreeClass, structured_mean_field, tree_classes
from coterie.inference.transport import transport

__all__ = [
    "ENGINES",
    "Crowd",
    "Engine",
    "ExactPlan",
    "IcmPlan",
    "Inference",
    "NoFeasibleLabels",
    "NodeGroups",
    "PairwiseModel",
    "Savings",
    "SizedLabels",
    "SizedModel",
    "TreeClass",
    "auto",
    "belief_propagation",
    "better_by_component",
    "cheapest_labels",
    "components",
    "crowd_model",
    "crowd_of",
    "draw_seed",
    "eliminate",
    "energy",
    "engines",
    "exact_plan",
    "feasible_start",
    "gibbs",
    "group_energy",
    "icm",
    "icm_plan",
    "infer",
    "label_with_groups",
    "label_with_sizes",
    "least_energy",
    "linear_program",
    "mean_field",
    "pair_energy",
    "pairwise_model",
    "plain_icm",
    "polish",
    "prove_sized",
    "restart_crowd",
    "spanning_forest",
    "structured_mean_field",
    "subgraph",
    "transport",
    "tree_classes",
]
