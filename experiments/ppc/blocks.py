"""Images cut into blocks (section 5.2). Run alone it draws docs/images/ppc-mosaic.png.

The paper's images are not to be had: the mosaic is of three CC0 textures, 300 × 300 pixels in
blocks of 10 × 10, each described by the first five principal components of its log-power
spectrum. How the settings were found is told in `config.toml`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from coterie import Constraints
from coterie.constraints import estimate_flip_rate, grid_neighbors
from coterie.datasets import load

CLASSES, SIDE, BLOCK, COMPONENTS = 3, 300, 10, 5
APART = 6  # snow blocks that each non-snow block is said to differ from
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "ppc-mosaic.png"
Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def make_mosaic(draw: int = 0) -> tuple[Array, Labels]:
    """Grey image and the texture of each pixel, both (SIDE, SIDE).

    Left and right halves of two textures, and a disc of the third in the middle. Textures are
    halved in size, and of equal mean and spread: only texture is left to tell them apart. Every
    draw but the first shows other places of the textures.
    """
    images = load("textures").images.astype(np.float64)
    shift = np.random.default_rng(draw).integers(512, size=2) if draw else (0, 0)
    images = np.roll(images, shift, axis=(1, 2))
    halved = images.reshape(CLASSES, 256, 2, 256, 2).mean(axis=(2, 4))
    halved -= halved.mean(axis=(1, 2), keepdims=True)
    halved /= halved.std(axis=(1, 2), keepdims=True)
    more = SIDE - 256
    textures = np.pad(halved, ((0, 0), (0, more), (0, more)), mode="symmetric")
    y, x = np.mgrid[:SIDE, :SIDE] - SIDE // 2
    region = (x > 0).astype(np.int64)
    region[x**2 + y**2 < (0.3 * SIDE) ** 2] = CLASSES - 1
    return np.take_along_axis(textures, region[None], axis=0)[0], region


def block_features(image: Array) -> Array:
    """Principal components (blocks, COMPONENTS) of the log-power spectrum of every block."""
    n = SIDE // BLOCK
    blocks = image.reshape(n, BLOCK, n, BLOCK).transpose(0, 2, 1, 3)
    power = np.abs(np.fft.rfft2(blocks - blocks.mean(axis=(2, 3), keepdims=True))) ** 2
    found = PCA(COMPONENTS, random_state=0).fit_transform(np.log(power.reshape(n * n, -1) + 0.05))
    return found / found.std(axis=0)


def block_labels(region: Labels) -> Labels:
    """Texture of the pixel in the middle of every block, as a grid."""
    return region[BLOCK // 2 :: BLOCK, BLOCK // 2 :: BLOCK]


def links_of(truth: Labels) -> Constraints:
    """Soft links between neighbouring blocks, with the paper's q: how often neighbours differ."""
    return grid_neighbors(truth.shape, q=estimate_flip_rate(truth))


def partial_labels(snow: NDArray[np.bool_], rng: np.random.Generator) -> Constraints:
    """Each non-snow block differs from six snow blocks, no snow block used twice."""
    there, here = (rng.permutation(np.flatnonzero(which)) for which in (snow, ~snow))
    count = min(here.size, there.size // APART)
    ends = np.column_stack([np.repeat(here[:count], APART), there[: count * APART]])
    return Constraints(snow.size, cannot_link=ends).as_hard()


def draw_picture() -> None:
    """The first mosaic and its segmentations side by side."""
    import matplotlib as mpl
    from run import timed_labels

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    image, region = make_mosaic()
    X, truth = block_features(image), block_labels(region)
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="tight")
    axes[0].imshow(image, cmap="gray")
    axes[0].set_title("mosaic")
    runs = (
        ("plain mixture", None, "auto"),
        ("mean field", links_of(truth), "mean_field"),
        ("Gibbs sampling", links_of(truth), "gibbs"),
    )
    for axis, (name, links, inference) in zip(axes[1:], runs, strict=True):
        labels, _ = timed_labels(X, links, inference, 0)
        axis.imshow(labels.reshape(truth.shape), cmap="viridis", interpolation="nearest")
        axis.set_title(f"{name}: ARI {adjusted_rand_score(truth.ravel(), labels):.2f}")
    for axis in axes:
        axis.axis("off")
    figure.savefig(PICTURE, dpi=80)


if __name__ == "__main__":
    draw_picture()
