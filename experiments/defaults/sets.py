"""Real and made sets of at most 600 rows, from scikit-learn or from a rule: they run anywhere.

Real sets are the same in every draw (the pairs differ), made ones are made anew.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from shapes import make
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from coterie.datasets import load
from lab.protocol import Data

MOST = 600  # rows
Generator = np.random.Generator
Rows = NDArray[np.float64]
Classes = NDArray[np.int64]
Table = tuple[Rows, Classes]


def standardised(table: Table) -> Table:
    """Columns of mean 0 and variance 1."""
    return StandardScaler().fit_transform(table[0]), table[1]


def some(table: Table) -> Table:
    """At most `MOST` rows, always the same."""
    X, y = table
    rows = np.random.default_rng(0).permutation(y.size)[:MOST]
    return np.asarray(X, dtype=np.float64)[rows], y[rows]


def digits(*, classes: tuple[int, ...] = tuple(range(10))) -> Table:
    """8 × 8 pixels as they are, some of them always 0."""
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, classes)
    return some((X[kept], y[kept]))


def odd_digits() -> Table:
    """Two classes of five digits each."""
    X, y = digits()
    return X, y % 2


def few_of_two() -> Table:
    """Wine with one class of 59 rows, one of 15 and one of 8."""
    X, y = load_wine(return_X_y=True)
    kept = np.concatenate([np.flatnonzero(y == c)[:n] for c, n in enumerate((59, 15, 8))])
    return standardised((X[kept], y[kept]))


REAL: dict[str, Callable[[], Table]] = {
    "iris": lambda: standardised(load_iris(return_X_y=True)),
    "wine": lambda: standardised(load_wine(return_X_y=True)),
    "wine, own units": lambda: load_wine(return_X_y=True),
    "wine, 59 : 15 : 8": few_of_two,
    "breast cancer": lambda: standardised(load_breast_cancer(return_X_y=True)),
    "digits": digits,
    "digits 3, 8, 9": lambda: digits(classes=(3, 8, 9)),
    "odd and even digits": odd_digits,
}


def classes(shares: list[float], n: int, rng: Generator) -> Classes:
    """Random classes of these shares, each at least once."""
    y = rng.choice(len(shares), size=n, p=shares)
    y[: len(shares)] = np.arange(len(shares))
    return y


def spheres(y: Classes, columns: int, spread: float, rng: Generator) -> Rows:
    """A sphere of variance 1 for each class, mean squared distance of centres 2 `spread`²."""
    centers = rng.normal(scale=spread / np.sqrt(columns), size=(y.max() + 1, columns))
    return centers[y] + rng.normal(size=(y.size, columns))


def unbalanced(rng: Generator) -> Table:
    """Nine of ten rows are of one class."""
    y = classes([0.9, 0.06, 0.04], 500, rng)
    return standardised((spheres(y, 5, 4.5, rng), y))


def three_of_sixty(rng: Generator) -> Table:
    """Clear spheres in 3 columns, and 57 that say nothing."""
    y = classes([0.25] * 4, 400, rng)
    return standardised((np.hstack([spheres(y, 3, 6.0, rng), rng.normal(size=(400, 57))]), y))


def few_values(rng: Generator) -> Table:
    """Eight columns of four values each, their chances by class."""
    y = classes([0.4, 0.3, 0.2, 0.1], 500, rng)
    chances = rng.dirichlet(np.ones(4), size=(4, 8)).cumsum(axis=2)
    X = (rng.random((500, 8, 1)) > chances[y]).sum(axis=2).astype(np.float64)
    return standardised((X, y))


def one_hot(rng: Generator) -> Table:
    """Four numbers that tell the classes, and two answers of five that hardly do, one-hot."""
    y = classes([0.5, 0.3, 0.2], 400, rng)
    chances = rng.dirichlet(4.0 * np.ones(5), size=(3, 2)).cumsum(axis=2)
    answers = (rng.random((400, 2, 1)) > chances[y]).sum(axis=2)
    hot = np.eye(5)[answers].reshape(400, 10)
    return np.hstack([standardised((spheres(y, 4, 4.5, rng), y))[0], hot]), y


def twenty(rng: Generator) -> Table:
    """Twenty spheres of 30 rows, 12 columns."""
    y = rng.permutation(np.repeat(np.arange(20), 30))
    return standardised((spheres(y, 12, 5.0, rng), y))


def heavy_tails(rng: Generator) -> Table:
    """Spheres with rows far out (Student's t of 2.5 degrees of freedom), 5 columns."""
    y = classes([0.4, 0.35, 0.25], 400, rng)
    far = np.sqrt(2.5 / rng.chisquare(2.5, size=(400, 1)))
    centers = rng.normal(scale=7.0 / np.sqrt(5), size=(3, 5))
    return standardised((centers[y] + rng.normal(size=(400, 5)) * far, y))


def nothing(rng: Generator) -> Table:
    """Columns that say nothing of the classes: what is found comes from the pairs alone."""
    return rng.normal(size=(300, 4)), classes([0.4, 0.3, 0.3], 300, rng)


def shape_of(name: str, size: int = 400) -> Callable[[Generator], Table]:
    """A shape of the side-by-side comparison: four classes as unequal as 1 : 2 : 3 : 4."""

    def made(rng: Generator) -> Table:
        rows = make(name, size, int(rng.integers(2**31)))
        return rows.X, rows.y

    return made


def from_rule(name: str, **options: int) -> Callable[[Generator], Table]:
    """A generated set of the library."""

    def made(rng: Generator) -> Table:
        bunch = load(name, random_state=int(rng.integers(2**31)), **options)
        return standardised((bunch.data, bunch.target))

    return made


MADE: dict[str, Callable[[Generator], Table]] = {
    "round": shape_of("round"),
    "stretched": shape_of("stretched"),
    "3 columns of 20 matter": shape_of("irrelevant columns"),
    "3 columns of 60 matter": three_of_sixty,
    "curved": shape_of("curved"),
    "scattered": shape_of("scattered"),
    "rings": from_rule("rings", n_per_class=200),
    "densities": from_rule("densities", n_per_class=150),
    "waveform": from_rule("waveform", n_samples=500),
    "unbalanced": unbalanced,
    "few values": few_values,
    "one-hot columns": one_hot,
    "twenty clusters": twenty,
    "heavy tails": heavy_tails,
    "nothing to find": nothing,
}


def table(name: str, draw: int) -> Data:
    """The rows of a set in one draw."""
    if name in REAL:
        X, y = REAL[name]()
    else:
        X, y = MADE[name](np.random.default_rng([draw, len(name)]))
    return Data(np.asarray(X, dtype=np.float64), y, len(np.unique(y)))
