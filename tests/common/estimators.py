"""The one table of estimators: every common test runs over it. Add a `case` for each new one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coterie.cluster import ConstrainedKMeans, HMRFKMeans, MPCKMeans, PCKMeans, SeededKMeans
from coterie.testing import Capabilities


@dataclass(frozen=True)
class Case:
    """An estimator, what it promises, and scikit-learn's checks it cannot meet, with the reason."""

    estimator: Any
    capabilities: Capabilities
    expected_failures: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Class and the settings that differ from the defaults."""
        return repr(self.estimator).replace("\n", "").replace(" ", "")


def case(estimator: Any, *, fails: dict[str, str] | None = None, **promises: Any) -> Case:
    """A row of the table; `promises` go beyond what the estimator itself declares."""
    return Case(estimator, Capabilities.of(estimator, **promises), fails or {})


# As scikit-learn says of its own KMeans: the start is drawn at random by weight, so a row of weight
# 2 and a row given twice draw different starts (the optimum is the same, the local one found not).
RANDOM_START = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a weighted random start differs"
    for kind in ("dense", "sparse")
}
# scikit-learn's data for these checks holds rows of zeros only, which the distortion refuses.
ZERO_ROWS = {
    check: "its data holds all-zero rows, which have no direction and no distribution"
    for check in (
        "check_estimators_dtypes",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    )
}

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
        fails=RANDOM_START | ZERO_ROWS,
    ),
    case(MPCKMeans(), objective="falls", fails=RANDOM_START),
]
