"""One table of estimators, from which the command line derives its methods."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator, ClusterMixin

import coterie
from coterie.cli.main import main
from coterie.cli.methods import METHODS, Method
from coterie.estimators import ESTIMATORS, estimator_class, register_estimator
from coterie.exceptions import InvalidParameter


def test_every_public_estimator_is_in_the_table():
    public = {
        name
        for name in coterie.__all__
        if isinstance(getattr(coterie, name), type)
        and issubclass(getattr(coterie, name), ClusterMixin)
    }
    assert {estimator_class(name).__name__ for name in ESTIMATORS} == public


def test_what_a_method_takes_is_read_from_its_signature():
    assert dict(METHODS) == {
        **dict.fromkeys(
            (
                "pckmeans",
                "mpckmeans",
                "hmrfkmeans",
                "copkmeans",
                "lcvqe",
                "seededkmeans",
                "constrainedkmeans",
                "completelink",
            ),
            Method("n_clusters", True, True, False, None),
        ),
        "mosaic": Method("n_clusters", False, True, True, None),
        "ppc": Method("n_components", True, True, False, None),
        "tvclust": Method(None, False, True, False, None),
        "rdpmeans": Method("n_clusters_hint", False, True, False, None),
        "dpmeans": Method("n_clusters_hint", False, False, False, None),
        "dossier": Method(None, False, True, False, None),
        "gpkmeans": Method("estimator__n_clusters", True, True, False, "mpckmeans"),
        "graphpropagation": Method("estimator__n_clusters", True, True, False, "mpckmeans"),
    }


class Halves(ClusterMixin, BaseEstimator):
    """Rows in order, cut into k parts."""

    def __init__(self, n_clusters: int = 2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None, *, constraints=None):
        self.labels_ = np.arange(len(X)) * self.n_clusters // len(X)
        return self


@pytest.fixture
def toy():
    register_estimator("halves", Halves)
    yield "halves"
    del ESTIMATORS["halves"]


def test_a_registered_estimator_is_offered_by_the_command_line(toy, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(6))

    def run(*arguments):
        return CliRunner().invoke(main, ["fit", str(tmp_path / "x.npy"), *arguments])

    assert (
        "3 clusters of 6 rows by halves (sizes 2, 2, 2)"
        in run("--method", "halves", "-k", "3").output
    )
    assert "needs the number of clusters" in run("--method", "Halves").output
    assert "graphpropagation, halves." in run("--method", "nonsense").output
    done = CliRunner().invoke(main, ["warmup", "halves"])
    assert done.exit_code == 0, done.output
    assert "all was there" in done.output


def test_names_that_cannot_be_used_are_refused(toy):
    with pytest.raises(InvalidParameter, match="registered already"):
        register_estimator("halves", Halves)
    with pytest.raises(InvalidParameter, match="small letters"):
        register_estimator("My-Own", Halves)
    with pytest.raises(InvalidParameter, match="Did you mean 'pckmeans'"):
        estimator_class("pckmean")
