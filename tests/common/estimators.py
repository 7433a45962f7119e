"""The one table of estimators: every common test runs over it. Add a `case` for each new one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coterie.cluster import (
    LCVQE,
    ConstrainedCompleteLink,
    ConstrainedKMeans,
    COPKMeans,
    DPMeans,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
    SeededKMeans,
)
from coterie.mixture import PPC, TVClust
from coterie.propagation import GPKMeans, GraphPropagation
from coterie.records import Dossier
from coterie.testing import Capabilities


@dataclass(frozen=True)
class Case:
    """An estimator, what it promises, and scikit-learn's checks it cannot meet, with the reason."""

    estimator: Any
    capabilities: Capabilities
    expected_failures: dict[str, str] = field(default_factory=dict)
    scikit_learn: bool = True

    @property
    def name(self) -> str:
        """Class and the settings that differ from the defaults."""
        return repr(self.estimator).replace("\n", "").replace(" ", "")


def case(
    estimator: Any,
    *,
    fails: dict[str, str] | None = None,
    scikit_learn: bool = True,
    **promises: Any,
) -> Case:
    """A row of the table; `promises` go beyond what the estimator itself declares."""
    return Case(estimator, Capabilities.of(estimator, **promises), fails or {}, scikit_learn)


# As for scikit-learn's own KMeans: that check draws a random start, which weights change. That
# weights are repetitions from one start is `check_sample_weight_is_repetition`.
RANDOM_START = {
    f"check_sample_weight_equivalence_on_{kind}_data": "the random start depends on the weights"
    for kind in ("dense", "sparse")
}
_DENSE = "check_sample_weight_equivalence_on_dense_data"
DENSE_START = {_DENSE: RANDOM_START[_DENSE]}  # of those that take no sparse rows
# scikit-learn's data for these checks holds rows of zeros only, which the cosine refuses.
ZERO_ROWS = dict.fromkeys(
    (
        "check_estimators_dtypes",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    ),
    "its data holds all-zero rows, which have no direction",
)


# scikit-learn reads `classifier_tags` of every sparse estimator that has a predict_proba.
SPARSE_PROBA = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "its check takes every estimator with predict_proba for a classifier",
)


def distributions(X: Any) -> Any:
    """Rows that sum to one, as a Kullback-Leibler divergence means them."""
    return X / X.sum(axis=1, keepdims=True)


def whole_numbers(X: Any) -> Any:
    """Counts."""
    return (10 * X).round()


CASES = [
    case(PCKMeans(), objective="falls", fails=RANDOM_START),
    case(SeededKMeans(), objective="falls", binding=False, fails=RANDOM_START),
    case(ConstrainedKMeans(), objective="falls", soft=False, fails=RANDOM_START),
    case(HMRFKMeans(), objective="falls", fails=RANDOM_START),
    case(
        HMRFKMeans(distortion="cosine"),
        objective="falls",
        translation=False,
        fails=RANDOM_START | ZERO_ROWS,
    ),
    case(
        HMRFKMeans(distortion="kl"),
        objective="falls",
        translation=False,
        prepare=distributions,
        # Its data is negative or has all-zero rows; the class is checked by the cases above.
        scikit_learn=False,
    ),
    case(MPCKMeans(), objective="falls", fails=RANDOM_START),
    case(COPKMeans(), objective="falls", soft=False, fails=RANDOM_START),
    case(PCKMeans(exact_assignment=True), objective="falls", scikit_learn=False),
    case(LCVQE(), hard=False, fails=RANDOM_START),
    case(ConstrainedCompleteLink(), soft=False),
    case(PPC()),
    # xi grows, so J is measured anew every round.
    case(RDPMeans(), starts=False, fails=RANDOM_START),
    case(
        RDPMeans(xi0=1.0, xi_rate=1.0),
        starts=False,
        scaling=False,
        objective="falls",
        fails=RANDOM_START,
    ),
    case(DPMeans(), constraints=False, starts=False, objective="falls", fails=RANDOM_START),
    case(TVClust(), starts=False, fails=DENSE_START),
    # Checked by scikit-learn as above; the sampler takes no weights.
    case(
        TVClust("gibbs", n_sweeps=60, burn_in=30),
        starts=False,
        sample_weight=False,
        scikit_learn=False,
    ),
    case(
        TVClust(family="multinomial"),
        starts=False,
        translation=False,
        scaling=False,
        prepare=whole_numbers,
        scikit_learn=False,  # its data is negative
    ),
    # At 0.9 pairs stay with the rows they name, which is what the checks pose; lower thresholds
    # hand them on to neighbours on purpose (tests/propagation runs the checks that bear it).
    *(
        case(
            meta(MPCKMeans(random_state=0), threshold=0.9),
            n_clusters="estimator__n_clusters",
            fails=RANDOM_START,
        )
        for meta in (GPKMeans, GraphPropagation)
    ),
    # An array of numbers is one field, a vector; new rows of a blob are new records.
    case(
        Dossier(),
        predicts=False,
        fails=dict.fromkeys(
            ("check_clustering", "check_clustering(readonly_memmap=True)"),
            "its blobs are three large clusters; Dossier looks for many small ones",
        ),
    ),
    case(Mosaic(), objective="falls", fails=RANDOM_START | SPARSE_PROBA),
]
