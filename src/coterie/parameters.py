"""What the parameters of everything public may be: one table.

Estimators and transformers are checked by every `fit`; strategies, sessions, oracles, programs,
folds and distortions when they are made. A rule says in words what is accepted; names among several
(``inference="icm"``) are looked up where they are used, since registries can grow. What depends on
the data (more clusters than rows, centres of another width) is checked with the data.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from coterie.exceptions import InvalidParameter
from coterie.rules import (
    Rule,
    are_all,
    are_questions,
    are_records,
    are_rows,
    are_texts,
    can,
    has,
    is_array,
    is_pair,
    is_sequence,
    is_several,
    is_text,
    names,
    real,
    whole,
)
from coterie.words import nearest

__all__ = ["PARAMETERS", "check_arguments", "check_parameters"]

_LEARNED = ("labels_", "cluster_centers_", "means_")  # by one of them a fitted model is known
SMALL, LARGE = 1e-100, 1e100  # of scales: beyond, their squares over- or underflow


NONE = Rule("None", lambda value: value is None)
AUTO = names("auto")
FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
NAME = Rule("a name", lambda value: isinstance(value, str))
SCALE = real(SMALL, LARGE)
PAIR = Rule("two numbers above 0", lambda value: is_pair(value, SCALE))
COUNTS = Rule("two integers of at least 1", lambda value: is_pair(value, whole()))
FIELDS = Rule(
    "a mapping of columns to kinds", lambda value: isinstance(value, Mapping) and len(value) > 0
)
TABLE = Rule("an array of numbers", lambda value: is_array(value, "biuf"))
LABELS = Rule("an array of labels", lambda value: is_array(value, "biufUSO"))
MODEL = Rule("a fitted model", lambda value: any(hasattr(value, name) for name in _LEARNED))
SEED_NUMBER = whole(0, 2**32 - 1, f"an integer from 0 to {2**32 - 1}")
SEED = (
    SEED_NUMBER
    | Rule("a numpy.random.RandomState", lambda value: isinstance(value, np.random.RandomState))
    | NONE
)
DISTORTION = NAME | Rule("a Distortion", can("product", "center_terms"))
ESTIMATOR = NONE | Rule("an estimator with fit", can("fit", "get_params"))
FUNCTION = Rule("a function", callable)
MAPPING = Rule("a dict", lambda value: isinstance(value, Mapping))
TEXT = Rule("a text that UTF-8 can write", is_text)
TEXTS = Rule("a sequence of texts that UTF-8 can write", are_texts)
RATE = real(0, 1)
BETWEEN = real(0, 1, above=True, below=True)
_NEVER_WRONG = "Answers that are never wrong are hard pairs (weight inf)."
DEFAULT_SURE = real(0.5, 1, above=True, below=True).else_(
    "Use as_hard() for pairs that must never be broken."
)
SURE = real(0.5, 1).else_("An answer that is more likely wrong than right is the other answer.")
WRONG = real(0, 0.5, below=True).else_("Answers that are wrong half of the time say nothing.")
NOISE = real(0, 0.5, above=True, below=True).else_(
    "Pairs that are wrong more often than right say the opposite: exchange their kinds."
)
PRICES = Rule("two numbers of at least 0", lambda value: is_pair(value, real(0, LARGE)))
RECORDS = Rule("a data frame, a dict of columns, texts or an array", are_records)
SESSION = Rule("an ActiveSession", can("ask", "tell", "labels"))
PATH = Rule("a path", lambda value: isinstance(value, str | os.PathLike) and bool(str(value)))
PATHS = PATH | Rule("a sequence of paths", lambda value: are_all(value, PATH))
SOURCE = PATHS | Rule("a stream of Arrow's", can("__arrow_c_stream__"))
NAMES = Rule("a collection of names", lambda value: are_all(value, NAME))
# One that is not fitted yet says so itself, as scikit-learn does.
CLUSTERING = LABELS | MODEL | Rule("an estimator", can("fit", "get_params"))
NUMBERED = Rule("an array of whole numbers", lambda value: is_array(value, "biu"))
ROWS = Rule("rows, an array or frame (n, d) for instance", are_rows)
AXES = NONE | Rule("Axes of matplotlib", can("plot", "set_title"))
ANSWERS = Rule("a sequence of answers", lambda value: are_all(value, Rule("", has("sign", "pair"))))
CURVE = Rule("a LearningCurve", has("budgets", "values"))
PROGRAM = Rule("a Program", has("oracle", "concurrency"))
CLASS = Rule("a class", lambda value: isinstance(value, type))
PAIRS = Rule("a Constraints", can("closure", "subset"))
EACH_ROW = Rule(  # none at all is said where they are scored
    "one label a row",
    lambda value: (
        np.shape(value) == (0,)
        if is_sequence(value) and len(value) == 0
        else LABELS.accepts(value) and np.shape(value)[1:] in ((), (1,))
    ),
)
LISTED = Rule(
    "a list of names",
    lambda value: (
        isinstance(value, list | tuple | set | frozenset | Mapping) and are_all(value, NAME)
    ),
)
UNITS = Rule("two arrays (center, spread)", lambda value: is_pair(value, TABLE))
PROJECTION = NAME | TABLE | Rule("a Projection", has("coordinates", "axes"))
TRANSFORMER = NONE | Rule("a transformer with fit and transform", can("fit", "transform"))

#: Name, or "Class.name" where a class means something else by it, to rule.
PARAMETERS: dict[str, Rule] = {
    "answers": ANSWERS,
    "answer_all.batch": whole(),
    "answer_all.oracle": FUNCTION | Rule("an oracle", can("replies")),
    "at_least": RATE,
    "Choices.categorical": LISTED,
    "Choices.columns": MAPPING,
    "Choices.drop": LISTED,
    "Choices.features": LISTED,
    "Choices.gaps": FLAG,
    "Choices.id_column": NONE | TEXT,
    "Choices.impute": FLAG,
    "Choices.missing": NONE | LISTED | Rule("one name", lambda value: isinstance(value, str)),
    "Choices.scale": FLAG,
    "Choices.text": NONE | LISTED | NAME,
    "Choices.truth": NONE | TEXT,
    "Choices.where": LISTED,
    "constraint_satisfaction.constraints": PAIRS,
    "empty": FLAG,
    "evaluate.constraints": NONE | PAIRS,
    "evaluate.rows": NAME | LABELS,
    "folder": PATH,
    "labels_pred": EACH_ROW,
    "labels_true": EACH_ROW,
    "load.name": TEXT,
    "open_column.name": TEXT,
    "open_column.where": PATHS,
    "pairwise_scores.constraints": NONE | PAIRS,
    "propagated": PAIRS,
    "constraint_satisfaction.labels": EACH_ROW,
    "sources": PAIRS,
    "unpacked.rows": Rule("rows of open_rows", can("read", "head")),
    "write_labels.labels": Rule(
        "an array of numbers (n,)", lambda value: is_array(value, "biuf") and np.ndim(value) == 1
    ),
    "write_report.model": CLUSTERING,
    "write_labels.ids": NONE | LABELS | Rule("a StoredColumn", can("batches")),
    "ax": AXES,
    "budgets": Rule(
        "rising numbers of questions", lambda value: is_sequence(value) and are_all(value, whole(0))
    ),
    "build_report.ids": NONE | LABELS,
    "build_report.model": CLUSTERING,
    "build_report.projection": PROJECTION,
    "build_report.records": NONE | RECORDS,
    "build_report.title": NONE | TEXT,
    "build_report.truth": NONE | LABELS,
    "build_report.units": NONE | UNITS,
    "choose_n_clusters.X": ROWS,
    "choose_n_clusters.candidates": Rule(
        "numbers of clusters", lambda value: isinstance(value, range) or are_all(value, whole())
    ),
    "choose_n_clusters.estimator": Rule("an estimator with fit", can("fit", "get_params")),
    "choose_n_clusters.random_state": SEED_NUMBER,
    "compact": FLAG,
    "compare.X": ROWS,
    "compare.estimators": Rule(
        "a dict of estimators by name",
        lambda value: isinstance(value, Mapping) and all(isinstance(k, str) for k in value),
    ),
    "compare.truth": NONE | LABELS,
    "columns": NONE | NAMES,
    "curves": CURVE | Rule("a sequence or dict of LearningCurve", is_several),
    "date": NONE | TEXT | Rule("a date", can("isoformat")),
    "explanation": Rule("a PairExplanation", has("terms", "findings")).else_(
        "Dossier.explain makes one."
    ),
    "feature_names": NONE | NAMES,
    "folds": NONE | whole(2),
    "choose_n_clusters.folds": whole(2),
    "held_out": FLAG,
    "label": NONE | TEXT,
    "learning_curve.X": ROWS,
    "learning_curve.distortion": NONE | DISTORTION,
    "learning_curve.error_rate": RATE,
    "learning_curve.name": NONE | TEXT,
    "learning_curve.random_state": SEED_NUMBER,
    "like": NUMBERED,
    "like_ids": NONE | LABELS | TEXT,
    "diff.ids": NONE | LABELS | TEXT,
    "plot_changes.ids": NONE | LABELS | TEXT,
    "renumber.ids": NONE | LABELS | TEXT,
    "made": NONE | MAPPING,
    "max_points": whole(),
    "max_questions": NONE | whole(0),
    "n_jobs": NONE | whole(1, 1024) | whole(-64, -1),
    "new": NUMBERED | MODEL,
    "old": NUMBERED | MODEL,
    "old_ids": NONE | LABELS | TEXT,
    "on_clash": names("keep", "raise"),
    "on_run": NONE | FUNCTION,
    "overwrite": FLAG,
    "pair_score.y": Rule("anything", lambda value: True),  # ignored
    "pair_score.estimator": Rule("a fitted estimator with predict", can("predict")),
    "path": PATH,
    "plot_clusters.X": ROWS,
    "plot_clusters.model": CLUSTERING,
    "plot_clusters.projection": PROJECTION,
    "plot_confusion.model": CLUSTERING,
    "plot_constraints.X": ROWS,
    "plot_constraints.model": NONE | CLUSTERING,
    "plot_constraints.projection": PROJECTION,
    "plot_objective.model": TABLE | MODEL,
    "programs": PROGRAM | Rule("a sequence of Program", lambda value: are_all(value, PROGRAM)),
    "progress": NONE | FUNCTION,
    "repeats": whole(1, 10**6),
    "run_programs.batch": whole(),
    "runs": whole(1, 10**6),
    "save.model": Rule("an estimator", can("get_params")),
    "score": NAME,
    "scores": NAMES,
    "seed": SEED_NUMBER,
    "sleep": FUNCTION,
    "stop": NONE | FUNCTION,
    "suspect_answers.labels": NONE | LABELS,
    "table": NONE | Rule("an AnnotatorTable", can("log_odds")),
    "trusted": Rule("a collection of classes", lambda value: are_all(value, CLASS)),
    "truth": LABELS,
    "where": SOURCE,
    "open_table.where": PATHS,
    "without_pairs": NAMES,
    "alpha": SCALE | PAIR,
    "GraphPropagation.alpha": BETWEEN,
    "propagate_graph.alpha": BETWEEN,
    "annealed_from": NONE | real(0, LARGE),
    "annotator": NONE | TEXT,
    "approximate": FLAG | AUTO,
    "attempts": whole(),
    "backoff": real(0, LARGE),
    "batch": NONE | whole(),
    "CallableOracle.batch": FLAG,
    "budget": NONE | whole(0),
    "burn_in": whole(0),
    "candidates": NONE | TABLE,
    "Dossier.candidates": NONE | TABLE | TEXT | TEXTS,
    "RecordQuestions.candidates": NONE | TABLE | TEXT | TEXTS,
    "centers": TABLE,
    "certainty": NONE | SURE,
    "clock": FUNCTION,
    "complete": FUNCTION,
    "components_per_cluster": whole(),
    "concentration_prior": SCALE,
    "concurrency": whole(),
    "PairKFold.constraints": PAIRS,
    "contents": NONE | Rule("a sequence of texts", is_sequence),  # each is checked when it is read
    "cost": real(0, LARGE),
    "covariance_prior": SCALE,
    "covariance_type": NAME,
    "default_certainty": DEFAULT_SURE,
    "degrees_of_freedom_prior": NONE | SCALE,
    "density_weighted": FLAG,
    "despite_clash": FLAG,
    "distortion": DISTORTION,
    "ActiveSession.distortion": NONE | DISTORTION,
    "divergence": DISTORTION,
    "error_rate": names("estimate") | WRONG,
    "LabelOracle.error_rate": RATE,
    "estimator": ESTIMATOR,
    "eta": AUTO | SCALE,
    "exact_assignment": FLAG,
    "exclusive": NONE | NAME | LABELS,
    "family": NAME,
    "fields": NONE | FIELDS,
    "TextOracle.fields": NONE | TEXTS,
    "function": FUNCTION,
    "guidelines": TEXT,
    "held": Rule("a sequence of questions", are_questions),
    "hard_weight": real(0, LARGE),
    "high": real(-math.inf, infinite=True),
    "hold_out": names("pairs", "components"),
    "ids": NONE | LABELS,
    "inference": NAME,
    "init": NAME | TABLE | MODEL,
    "PricedMeans.init": NAME | LABELS | MODEL,
    "TVClust.init": names("kmeans") | LABELS | MODEL,
    "instructions": NONE | TEXT,
    "key": NONE | TEXT,
    "kind": names("pair", "set"),
    "labels": LABELS,
    "lambda_": NAME | SCALE,
    "learn_metric": FLAG,
    "lock": Rule("a lock", can("__enter__", "__exit__")),
    "low": real(-math.inf, infinite=True),
    "metrics": NONE | TABLE,
    "matrix": NONE | TABLE,
    "max_calls": NONE | whole(0),
    "max_clusters": NONE | whole(),
    "max_cost": NONE | real(0, infinite=True),
    "max_dimensions": whole(),
    "max_iter": whole(),
    "max_pairs": whole(),
    "max_size": NONE | whole(0) | TABLE,
    "mean_precision_prior": SCALE,
    "metric": NONE | DISTORTION,
    "ConstrainedCompleteLink.metric": NAME,
    "GraphPropagation.metric": NAME,
    "neighbor_graph.metric": NAME,
    "metric_form": names("diagonal", "full"),
    "min_size": NONE | whole(0) | TABLE,
    "model": TEXT,
    "n_chains": whole(),
    "n_clusters": whole(),
    "Explore.n_clusters": NONE | whole(),
    "ExploreConsolidate.n_clusters": NONE | whole(),
    "Mosaic.n_clusters": NONE | whole(),
    "n_clusters_hint": NONE | whole(),
    "n_components": whole(),
    "RCA.n_components": NONE | whole(),
    "n_init": whole(),
    "PairwiseKMeans.n_init": AUTO | whole(),
    "n_neighbors": whole(),
    "n_prototypes": AUTO | whole(),
    "n_rounds": whole(),
    "n_splits": whole(2),
    "n_sweeps": whole(),
    "n_trees": whole(),
    "name": TEXT,
    "noise": NONE | names("estimate") | NOISE,
    "now": FUNCTION,
    "on_change": NONE | FUNCTION,
    "oracle": FUNCTION,
    "order": names("random", "natural"),
    "overlap": RATE,
    "p": NONE | BETWEEN.else_(_NEVER_WRONG),
    "p_prior": PAIR,
    "passes": AUTO | whole() | COUNTS,
    "patience": whole(),
    "per_cluster": FLAG,
    "per_minute": NONE | whole(),
    "phi": FUNCTION,
    "phi_max": names("tight", "paper") | real(0, LARGE),
    "phi_prime": FUNCTION,
    "price": PRICES,
    "prior": names("rayleigh") | NONE,
    "IDivergence.prior": names("floor", "dirichlet"),
    "prior_rows": AUTO | real(0, LARGE),
    "prior_width": AUTO | SCALE,
    "q": NONE | BETWEEN.else_(_NEVER_WRONG),
    "q_prior": PAIR,
    "radius": NAME,
    "random_state": SEED,
    "ActiveSession.random_state": NONE | SEED_NUMBER,
    "LabelOracle.random_state": SEED_NUMBER,
    "records": RECORDS,
    "RecordQuestions.records": NONE | RECORDS,
    "recall": real(0, 1, above=True),
    "reduce": NAME,
    "reduce_dim": TRANSFORMER,
    "refine": FLAG,
    "reg_covar": real(0, LARGE),
    "sampling": NAME,
    "scale": NAME,
    "seconds": real(0, above=True, infinite=True),
    "session": SESSION,
    "settings": NONE | MAPPING,
    "share": real(0, LARGE, above=True),
    "share_ends": FLAG,
    "shrinkage": AUTO | real(0, 1),
    "size": whole(2),
    "skip_implied": FLAG,
    "smoothing": AUTO | real(0, LARGE),
    "smoothness": SCALE,
    "standardize": FLAG,
    "start": names("model", "centers"),
    "store": NONE | Rule("an AnswerStore", can("append", "events")),
    "strategy": NONE | NAME | Rule("a Strategy", can("prepare")),
    "temperature": real(0, LARGE),
    "thin": whole(),
    "threshold": AUTO | real(0, 1, above=True),
    "Dossier.threshold": AUTO | BETWEEN,
    "time_limit": real(0, infinite=True),
    "timeout": NONE | real(0, above=True, infinite=True),
    "tol": real(0, LARGE),
    "propagate_graph.tol": SCALE,
    "tries": whole(),
    "truncation": whole(),
    "unknown_rate": RATE,
    "url": TEXT,
    "w": AUTO | real(0, infinite=True),
    "warm_start": FLAG,
    "weigh_annotators": FLAG,
    "weights_update": NAME,
    "xi0": AUTO | real(0, LARGE),
    "xi_max": NONE | AUTO | real(0, LARGE),
    "xi_rate": real(1, LARGE),
    "xi_ratio": real(0, LARGE),
    "y": LABELS,
}


def check_parameters(made: Any) -> None:
    """Refuse a parameter of an estimator, or a like object, of a kind or size it cannot be.

    Parameters that a class of somebody else adds are that class's to check.
    """
    cls: type = type(made)
    rules = _rules(cls)
    _check(rules, {name: getattr(made, name) for name in rules})


def check_arguments(taker: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse an argument of a class or function of ours that it cannot be.

    `given` may hold more than its arguments, as ``locals()`` at its beginning does.
    """
    rules = _rules(taker)
    _check(rules, {name: given[name] for name in rules})


def _check(rules: Mapping[str, Rule], given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        rule = rules[name]
        if not rule.accepts(value):
            hint = nearest(value, rule.options) if isinstance(value, str) else ""
            raise InvalidParameter(
                f"{name}={_shown(value)} must be {rule.words}.{hint}{rule.remedy}"
            )


@cache
def _rules(taker: Callable[..., Any]) -> dict[str, Rule]:
    """The rule of every parameter that a class or function of ours takes."""
    family = taker.__mro__ if isinstance(taker, type) else (taker,)
    ours = next((c for c in family if c.__module__.partition(".")[0] == "coterie"), None)
    if ours is None:
        return {}
    owners = [c.__name__ for c in (ours.__mro__ if isinstance(ours, type) else (ours,))]
    found = {}
    for name in inspect.signature(ours).parameters:
        own = (PARAMETERS.get(f"{owner}.{name}") for owner in owners)
        rule = next((r for r in own if r is not None), PARAMETERS.get(name))
        if rule is not None:
            found[name] = rule
    return found


def _shown(value: Any) -> str:
    try:
        words = repr(value)
    except Exception:  # of an integer of 5,000 digits, or of somebody's class
        return f"a {type(value).__name__} that cannot be shown"
    return words if len(words) <= 60 else f"{words[:50]}… (a {type(value).__name__})"
