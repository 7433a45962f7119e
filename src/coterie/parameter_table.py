"""What the parameters of everything public may be: one table.

A rule says in words what is accepted; names among several (``inference="icm"``) are looked up where
they are used, since registries can grow. What depends on the data (more clusters than rows, centres
of another width) is checked with the data. `coterie.parameters` checks by the table.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

import numpy as np

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

__all__ = ["LARGE", "PARAMETERS", "SMALL"]

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

#: Name, or "Owner.name" where a class or function means something else by it, to rule; by name.
PARAMETERS: dict[str, Rule] = {
    "choose_n_clusters.X": ROWS,
    "compare.X": ROWS,
    "learning_curve.X": ROWS,
    "plot_clusters.X": ROWS,
    "plot_constraints.X": ROWS,
    "alpha": SCALE | PAIR,
    "GraphPropagation.alpha": BETWEEN,
    "propagate_graph.alpha": BETWEEN,
    "annealed_from": NONE | real(0, LARGE),
    "annotator": NONE | TEXT,
    "answers": ANSWERS,
    "approximate": FLAG | AUTO,
    "at_least": RATE,
    "at_once": FLAG,
    "attempts": whole(),
    "ax": AXES,
    "backoff": real(0, LARGE),
    "batch": NONE | whole(),
    "CallableOracle.batch": FLAG,
    "answer_all.batch": whole(),
    "run_programs.batch": whole(),
    "budget": NONE | whole(0),
    "budgets": Rule(
        "rising numbers of questions", lambda value: is_sequence(value) and are_all(value, whole(0))
    ),
    "burn_in": whole(0),
    "candidates": NONE | TABLE,
    "Dossier.candidates": NONE | TABLE | TEXT | TEXTS,
    "RecordQuestions.candidates": NONE | TABLE | TEXT | TEXTS,
    "choose_n_clusters.candidates": Rule(
        "numbers of clusters", lambda value: isinstance(value, range) or are_all(value, whole())
    ),
    "Choices.categorical": LISTED,
    "centers": TABLE,
    "certainty": NONE | SURE,
    "clock": FUNCTION,
    "columns": NONE | NAMES,
    "Choices.columns": MAPPING,
    "compact": FLAG,
    "complete": FUNCTION,
    "components_per_cluster": whole(),
    "concentration_prior": SCALE,
    "concurrency": whole(),
    "PairKFold.constraints": PAIRS,
    "constraint_satisfaction.constraints": PAIRS,
    "evaluate.constraints": NONE | PAIRS,
    "pairwise_scores.constraints": NONE | PAIRS,
    "contents": NONE | Rule("a sequence of texts", is_sequence),  # each is checked when it is read
    "cost": real(0, LARGE),
    "covariance_prior": SCALE,
    "covariance_type": NAME,
    "curves": CURVE | Rule("a sequence or dict of LearningCurve", is_several),
    "date": NONE | TEXT | Rule("a date", can("isoformat")),
    "default_certainty": DEFAULT_SURE,
    "degrees_of_freedom_prior": NONE | SCALE,
    "density_weighted": FLAG,
    "despite_clash": FLAG,
    "distortion": DISTORTION,
    "ActiveSession.distortion": NONE | DISTORTION,
    "learning_curve.distortion": NONE | DISTORTION,
    "divergence": DISTORTION,
    "Choices.drop": LISTED,
    "empty": FLAG,
    "error_rate": names("estimate") | WRONG,
    "LabelOracle.error_rate": RATE,
    "learning_curve.error_rate": RATE,
    "estimator": ESTIMATOR,
    "choose_n_clusters.estimator": Rule("an estimator with fit", can("fit", "get_params")),
    "pair_score.estimator": Rule("a fitted estimator with predict", can("predict")),
    "compare.estimators": Rule(
        "a dict of estimators by name",
        lambda value: isinstance(value, Mapping) and all(isinstance(k, str) for k in value),
    ),
    "eta": AUTO | SCALE,
    "exact_assignment": FLAG,
    "exclusive": NONE | NAME | LABELS,
    "explanation": Rule("a PairExplanation", has("terms", "findings")).else_(
        "Dossier.explain makes one."
    ),
    "family": NAME,
    "feature_names": NONE | NAMES,
    "Choices.features": LISTED,
    "fields": NONE | FIELDS,
    "TextOracle.fields": NONE | TEXTS,
    "folder": PATH,
    "folds": NONE | whole(2),
    "choose_n_clusters.folds": whole(2),
    "function": FUNCTION,
    "Choices.gaps": FLAG,
    "guidelines": TEXT,
    "hard_weight": real(0, LARGE),
    "held": Rule("a sequence of questions", are_questions),
    "held_out": FLAG,
    "high": real(-math.inf, infinite=True),
    "hold_out": names("pairs", "components"),
    "Choices.id_column": NONE | TEXT,
    "ids": NONE | LABELS,
    "build_report.ids": NONE | LABELS,
    "diff.ids": NONE | LABELS | TEXT,
    "plot_changes.ids": NONE | LABELS | TEXT,
    "renumber.ids": NONE | LABELS | TEXT,
    "write_labels.ids": NONE | LABELS | Rule("a StoredColumn", can("batches")),
    "Choices.impute": FLAG,
    "inference": NAME,
    "init": NAME | TABLE | MODEL,
    "PricedMeans.init": NAME | LABELS | MODEL,
    "TVClust.init": names("kmeans") | LABELS | MODEL,
    "instructions": NONE | TEXT,
    "key": NONE | TEXT,
    "kind": names("pair", "set"),
    "kinds": NONE | NAMES,
    "label": NONE | TEXT,
    "labels": LABELS,
    "constraint_satisfaction.labels": EACH_ROW,
    "suspect_answers.labels": NONE | LABELS,
    "write_labels.labels": Rule(
        "an array of numbers (n,)", lambda value: is_array(value, "biuf") and np.ndim(value) == 1
    ),
    "labels_pred": EACH_ROW,
    "labels_true": EACH_ROW,
    "lambda_": NAME | SCALE,
    "learn_metric": FLAG,
    "like": NUMBERED,
    "like_ids": NONE | LABELS | TEXT,
    "lock": Rule("a lock", can("__enter__", "__exit__")),
    "low": real(-math.inf, infinite=True),
    "made": NONE | MAPPING,
    "matrix": NONE | TABLE,
    "max_calls": NONE | whole(0),
    "max_clusters": NONE | whole(),
    "max_cost": NONE | real(0, infinite=True),
    "max_dimensions": whole(),
    "max_iter": whole(),
    "max_pairs": whole(),
    "max_points": whole(),
    "max_questions": NONE | whole(0),
    "max_size": NONE | whole(0) | TABLE,
    "mean_precision_prior": SCALE,
    "metric": NONE | DISTORTION,
    "ConstrainedCompleteLink.metric": NAME,
    "GraphPropagation.metric": NAME,
    "neighbor_graph.metric": NAME,
    "metric_form": names("diagonal", "full"),
    "metrics": NONE | TABLE,
    "min_size": NONE | whole(0) | TABLE,
    "Choices.missing": NONE | LISTED | Rule("one name", lambda value: isinstance(value, str)),
    "model": TEXT,
    "build_report.model": CLUSTERING,
    "plot_clusters.model": CLUSTERING,
    "plot_confusion.model": CLUSTERING,
    "plot_constraints.model": NONE | CLUSTERING,
    "plot_objective.model": TABLE | MODEL,
    "save.model": Rule("an estimator", can("get_params")),
    "write_report.model": CLUSTERING,
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
    "n_jobs": NONE | whole(1, 1024) | whole(-64, -1),
    "n_neighbors": whole(),
    "n_prototypes": AUTO | whole(),
    "n_rounds": whole(),
    "n_splits": whole(2),
    "n_sweeps": whole(),
    "n_trees": whole(),
    "name": TEXT,
    "learning_curve.name": NONE | TEXT,
    "load.name": TEXT,
    "open_column.name": TEXT,
    "new": NUMBERED | MODEL,
    "noise": NONE | names("estimate") | NOISE,
    "now": FUNCTION,
    "old": NUMBERED | MODEL,
    "old_ids": NONE | LABELS | TEXT,
    "on_change": NONE | FUNCTION,
    "on_clash": names("keep", "raise"),
    "on_run": NONE | FUNCTION,
    "oracle": FUNCTION,
    "answer_all.oracle": FUNCTION | Rule("an oracle", can("replies")),
    "order": names("random", "natural"),
    "overlap": RATE,
    "overwrite": FLAG,
    "p": NONE | BETWEEN.else_(_NEVER_WRONG),
    "p_prior": PAIR,
    "passes": AUTO | whole() | COUNTS,
    "path": PATH,
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
    "programs": PROGRAM | Rule("a sequence of Program", lambda value: are_all(value, PROGRAM)),
    "progress": NONE | FUNCTION,
    "build_report.projection": PROJECTION,
    "plot_clusters.projection": PROJECTION,
    "plot_constraints.projection": PROJECTION,
    "propagated": PAIRS,
    "q": NONE | BETWEEN.else_(_NEVER_WRONG),
    "q_prior": PAIR,
    "radius": NAME,
    "random_state": SEED,
    "ActiveSession.random_state": NONE | SEED_NUMBER,
    "LabelOracle.random_state": SEED_NUMBER,
    "choose_n_clusters.random_state": SEED_NUMBER,
    "learning_curve.random_state": SEED_NUMBER,
    "recall": real(0, 1, above=True),
    "records": RECORDS,
    "RecordQuestions.records": NONE | RECORDS,
    "build_report.records": NONE | RECORDS,
    "reduce": NAME,
    "reduce_dim": TRANSFORMER,
    "refine": FLAG,
    "reg_covar": real(0, LARGE),
    "repeats": whole(1, 10**6),
    "evaluate.rows": NAME | LABELS,
    "unpacked.rows": Rule("rows of open_rows", can("read", "head")),
    "runs": whole(1, 10**6),
    "sampling": NAME,
    "scale": NAME,
    "Choices.scale": FLAG,
    "score": NAME,
    "scores": NAMES,
    "seconds": real(0, above=True, infinite=True),
    "seed": SEED_NUMBER,
    "session": SESSION,
    "settings": NONE | MAPPING,
    "share": real(0, LARGE, above=True),
    "share_ends": FLAG,
    "shrinkage": AUTO | real(0, 1),
    "size": whole(2),
    "skip_implied": FLAG,
    "sleep": FUNCTION,
    "smoothing": AUTO | real(0, LARGE),
    "smoothness": SCALE,
    "sources": PAIRS,
    "standardize": FLAG,
    "start": names("model", "centers"),
    "stop": NONE | FUNCTION,
    "store": NONE | Rule("an AnswerStore", can("append", "events")),
    "strategy": NONE | NAME | Rule("a Strategy", can("prepare")),
    "table": NONE | Rule("an AnnotatorTable", can("log_odds")),
    "temperature": real(0, LARGE),
    "Choices.text": NONE | LISTED | NAME,
    "thin": whole(),
    "threshold": AUTO | real(0, 1, above=True),
    "Dossier.threshold": AUTO | BETWEEN,
    "time_limit": real(0, infinite=True),
    "timeout": NONE | real(0, above=True, infinite=True),
    "build_report.title": NONE | TEXT,
    "tol": real(0, LARGE),
    "propagate_graph.tol": SCALE,
    "tries": whole(),
    "truncation": whole(),
    "trusted": Rule("a collection of classes", lambda value: are_all(value, CLASS)),
    "truth": LABELS,
    "Choices.truth": NONE | TEXT,
    "build_report.truth": NONE | LABELS,
    "compare.truth": NONE | LABELS,
    "build_report.units": NONE | UNITS,
    "unknown_rate": RATE,
    "url": TEXT,
    "w": AUTO | real(0, infinite=True),
    "warm_start": FLAG,
    "weigh_annotators": FLAG,
    "weights_update": NAME,
    "where": SOURCE,
    "Choices.where": LISTED,
    "open_column.where": PATHS,
    "open_table.where": PATHS,
    "without_pairs": NAMES,
    "xi0": AUTO | real(0, LARGE),
    "xi_max": NONE | AUTO | real(0, LARGE),
    "xi_rate": real(1, LARGE),
    "xi_ratio": real(0, LARGE),
    "y": LABELS,
    "pair_score.y": Rule("anything", lambda value: True),  # ignored
}
