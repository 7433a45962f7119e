"""Data sets made from a rule: nothing to download, the same on every machine.

The figures of Lu and Leen (2007) and Khashabi et al. (2015) are not in their texts. What the texts
do say of them (sizes, classes, how far K-Means and a Gaussian mixture get without and with pairs,
the axes) is kept, and tests measure it; the shapes themselves are this project's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from coterie.validation import check_count

Points = tuple[NDArray[np.float64], NDArray[np.int64]]


def _bunch(points: Points, names: list[str], features: list[str], description: str) -> Bunch:
    data, target = points
    return Bunch(
        data=data,
        target=target,
        target_names=np.asarray(names),
        feature_names=features,
        DESCR=description,
    )


def balance_scale() -> Bunch:
    """Balance scale, 625 × 4: the whole grid {1..5}⁴, class sign(LW·LD − RW·RD).

    Identical with the UCI set, rows in its order.
    """
    grid = np.stack(np.meshgrid(*[np.arange(1.0, 6.0)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    torque = grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3]
    names = ["B", "L", "R"]
    target = np.select([torque > 0, torque < 0], [1, 2], 0).astype(np.int64)
    features = ["left_weight", "left_distance", "right_weight", "right_distance"]
    return _bunch((grid, target), names, features, balance_scale.__doc__ or "")


def waveform(n_samples: int = 5000, *, noise_features: int = 0, random_state: int = 0) -> Bunch:
    """Waveform, n × 21 (+ `noise_features`): three classes of random mixtures of two triangles.

    Breiman et al. (1984): x_m = u·a_m + (1−u)·b_m + ε, u uniform on [0, 1], ε standard normal, and
    (a, b) two of the triangles h1 = max(6 − |m − 7|, 0), h2 = max(6 − |m − 15|, 0),
    h3 = max(6 − |m − 11|, 0), m = 1..21: (h1, h2), (h1, h3), (h2, h3) for classes 0, 1, 2.
    The UCI version of 40 columns adds 19 of pure noise.
    """
    n = check_count("n_samples", n_samples)
    check_count("noise_features", noise_features, least=0)
    rng = np.random.default_rng(random_state)
    m = np.arange(1, 22)
    triangles = np.maximum(6 - np.abs(m - np.array([[7], [15], [11]])), 0).astype(float)
    target = rng.integers(0, 3, size=n)
    first, second = np.array([0, 0, 1])[target], np.array([1, 2, 2])[target]
    u = rng.uniform(size=(n, 1))
    data = u * triangles[first] + (1 - u) * triangles[second]
    data = np.hstack([data, np.zeros((n, noise_features))]) + rng.standard_normal(
        (n, 21 + noise_features)
    )
    features = [f"x{j}" for j in range(21 + noise_features)]
    return _bunch((data, target), ["0", "1", "2"], features, waveform.__doc__ or "")


def _two_classes(n_per_class: int) -> NDArray[np.int64]:
    return np.repeat(np.array([0, 1], dtype=np.int64), n_per_class)


def _bars(rng: np.random.Generator, n: int) -> Points:
    """Each class two blobs side by side, far apart; the classes lie close, one above the other."""
    y = _two_classes(n)
    side = np.where(np.arange(2 * n) % 2, 2.0, -2.0)
    noise = rng.standard_normal((2 * n, 2)) * [0.8, 0.35]
    return np.column_stack([side, 2.0 * y - 1.0]) + noise, y


def _crescents(rng: np.random.Generator, n: int) -> Points:
    """Two half circles, each reaching into the other, blurred until they overlap."""
    y = _two_classes(n)
    t = rng.uniform(0.0, np.pi, 2 * n)
    upper = np.column_stack([np.cos(t), np.sin(t)])
    lower = np.column_stack([1.0 - np.cos(t), 0.3 - np.sin(t)])
    points = np.where(y[:, None] == 0, upper, lower)
    return points + 0.2 * rng.standard_normal(points.shape), y


def _sandwich(rng: np.random.Generator, n: int) -> Points:
    """One class is a layer between the two layers of the other: the class means coincide."""
    y = _two_classes(n)
    layer = np.where(y == 0, 0.0, np.where(np.arange(2 * n) % 2, 1.0, -1.0))
    height = layer + 0.2 * rng.standard_normal(2 * n)
    return np.column_stack([rng.uniform(-1.5, 1.5, 2 * n), height]), y


def _rings(rng: np.random.Generator, n: int) -> Points:
    """A ring of radius 16 around one of radius 6."""
    y = _two_classes(n)
    t = rng.uniform(0.0, 2 * np.pi, 2 * n)
    radius = np.where(y == 0, 6.0, 16.0) + 0.8 * rng.standard_normal(2 * n)
    return np.column_stack([radius * np.cos(t), radius * np.sin(t)]), y


def _moons(rng: np.random.Generator, n: int) -> Points:
    """Two half circles, each reaching into the other, well separated."""
    y = _two_classes(n)
    t = rng.uniform(0.0, np.pi, 2 * n)
    upper = np.column_stack([np.cos(t) - 0.5, np.sin(t) - 0.25])
    lower = np.column_stack([0.5 - np.cos(t), 0.25 - np.sin(t)])
    points = 11.0 * np.where(y[:, None] == 0, upper, lower)
    return points + 0.8 * rng.standard_normal(points.shape), y


def _spirals(rng: np.random.Generator, n: int) -> Points:
    """Two spirals of one and a half turns, wound into each other."""
    y = _two_classes(n)
    t = 3 * np.pi * np.sqrt(rng.uniform(0.03, 1.0, 2 * n))
    angle = t + np.pi * y
    points = (18.0 * t / (3 * np.pi))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points + 0.5 * rng.standard_normal(points.shape), y


def _cross(rng: np.random.Generator, n: int) -> Points:
    """A horizontal and a vertical bar through the same middle."""
    y = _two_classes(n)
    along, across = rng.uniform(-18, 18, 2 * n), 1.2 * rng.standard_normal(2 * n)
    return (
        np.where(
            y[:, None] == 0, np.column_stack([along, across]), np.column_stack([across, along])
        ),
        y,
    )


def _stripes(rng: np.random.Generator, n: int) -> Points:
    """Three long parallel stripes, far longer than they are apart."""
    y = np.repeat(np.arange(3, dtype=np.int64), n)
    height = 6.0 * (y - 1) + 0.8 * rng.standard_normal(3 * n)
    return np.column_stack([rng.uniform(-18, 18, 3 * n), height]), y


def _densities(rng: np.random.Generator, n: int) -> Points:
    """Two small dense groups beside one wide group that reaches around them."""
    y = np.repeat(np.arange(3, dtype=np.int64), n)
    centre = np.array([[-2.0, 0.0], [10.0, 2.0], [10.0, -2.0]])[y]
    spread = np.array([6.0, 0.8, 0.8])[y]
    return centre + spread[:, None] * rng.standard_normal((3 * n, 2)), y


PPC_SETS: dict[str, Callable[[np.random.Generator, int], Points]] = {
    "ppc_1": _bars,
    "ppc_2": _crescents,
    "ppc_3": _sandwich,
}
PATTERNS: dict[str, Callable[[np.random.Generator, int], Points]] = {
    "rings": _rings,
    "moons": _moons,
    "spirals": _spirals,
    "cross": _cross,
    "stripes": _stripes,
    "densities": _densities,
}


def shape(name: str, n_per_class: int = 200, *, random_state: int = 0) -> Bunch:
    """One of the two-dimensional shapes.

    `ppc_1` to `ppc_3` are the sets of Lu and Leen (2007); `rings`, `moons`, `spirals`, `cross`,
    `stripes` and `densities` the patterns of Khashabi et al. (2015).
    """
    make = (PPC_SETS | PATTERNS)[name]
    points = make(np.random.default_rng(random_state), check_count("n_per_class", n_per_class))
    names = [str(k) for k in range(int(points[1].max()) + 1)]
    return _bunch(points, names, ["x", "y"], (make.__doc__ or "").strip())
