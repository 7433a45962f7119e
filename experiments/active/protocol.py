"""Data and budgets of the experiments: our own bars, and those of COBRAS."""

from __future__ import annotations

from sklearn.preprocessing import StandardScaler

from coterie.datasets import load

COBRAS_SETS = (
    "iris",
    "wine",
    "pendigits_389",
    "letters_ijl",
    "ionosphere",
    "ecoli",
    "mnist_2000",
)
#: Measured with the package cobras-ts on a machine like ours.
COBRAS = {
    "iris": (0.625, 0.772, 0.857, 0.929),
    "wine": (0.920, 0.932, 0.943, 0.948),
    "pendigits_389": (0.809, 0.891, 0.918, 0.982),
    "letters_ijl": (0.145, 0.480, 0.733, 0.844),
    "ionosphere": (0.368, 0.532, 0.517, 0.637),
    "ecoli": (0.187, 0.311, 0.780, 0.763),
    "mnist_2000": (0.246, 0.253, 0.284, 0.350),
}
MARKS = (25, 50, 100, 200)
BAR = (0.72, 0.80, 0.87, 0.93)

OWN_SETS = (
    "iris",
    "wine",
    "pendigits_389",
    "letters_ijl",
    "ionosphere",
    "news_similar_3",
    "classic3",
    "mnist_2000",
)
TEXT = ("news_different_3", "news_related_3", "news_similar_3", "classic3", "classic3_subset")


def rows(name: str):
    """X, y and the distortion: text as it is under cosine, numbers standardised."""
    bunch = load(name)
    if name in TEXT:
        return bunch.data, bunch.target, "cosine"
    return StandardScaler().fit_transform(bunch.data), bunch.target, "sqeuclidean"
