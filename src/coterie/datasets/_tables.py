"""Sets of numeric rows: scikit-learn's own, and CSV or .npz files of the data folder."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.decomposition import PCA
from sklearn.utils import Bunch

from coterie.datasets._files import data_file, encode, read_table, sample_of_classes, take
from coterie.validation import check_choice

BUNDLED = ("iris", "wine", "breast_cancer", "digits")

TABLES = {
    "ionosphere": ("ionosphere", "Ionosphere (UCI), 351 × 34, 2 classes; column x1 is constant."),
    "ecoli": ("ecoli", "Ecoli (UCI), 336 × 7, 8 classes of very unequal size."),
    "letter": ("letter", "Letter recognition (UCI), 20,000 × 16, 26 classes."),
    "pendigits": ("pendigits", "Pen-based digits (UCI), 10,992 × 16, 10 classes."),
    "waveform40": ("waveform40", "Waveform (UCI), 5,000 × 40: 21 columns and 19 of pure noise."),
    "crabs": ("crabs", "Leptograpsus crabs, 200 × 5, 4 classes: species (B, O) by sex (M, F)."),
    "protein": ("protein_xing", "Protein of Xing et al. (2003), 116 × 20, 6 classes."),
    "shuttle": ("shuttle_keel", "Shuttle (KEEL), 57,999 × 9, 7 classes, rows in KEEL order."),
    "banana": ("banana_keel", "Banana (KEEL), 5,300 × 2, 2 classes, rows in KEEL order."),
}
# name -> (table, classes, rows sampled or None for all of them)
SUBSETS: dict[str, tuple[str, list[str], int | None]] = {
    "pendigits_389": ("pendigits", ["3", "8", "9"], 317),
    "letters_ijl": ("letter", ["I", "J", "L"], 227),
}


def load_bundled(name: str) -> Bunch:
    """A set that comes with scikit-learn."""
    bunch: Bunch = getattr(sklearn_datasets, f"load_{name}")()
    bunch.target = bunch.target.astype(np.int64)
    return bunch


def load_table(name: str) -> Bunch:
    """A CSV of the data folder."""
    stem, description = TABLES[name]
    return read_table(f"{stem}.csv.gz", description)


def load_subset(name: str) -> Bunch:
    """Classes of a table as Basu et al. (2006) take them; ``default_rng(0)`` draws the rows."""
    table, classes, size = SUBSETS[name]
    description = (
        f"{size} rows of classes {', '.join(classes)} of {table} (Basu et al. 2006, Table 3.1)."
    )
    return sample_of_classes(load_table(table), classes, size, description)


def load_pendigits_0689() -> Bunch:
    """Digits 0, 6, 8 and 9 of pendigits, 750 of each (Lu and Leen 2007, §5.1.3)."""
    whole = load_table("pendigits")
    names = np.asarray(whole.target_names)
    rng = np.random.default_rng(0)
    rows = [rng.permutation(np.flatnonzero(names[whole.target] == digit))[:750] for digit in "0689"]
    return take(whole, np.sort(np.concatenate(rows)), load_pendigits_0689.__doc__ or "")


def load_glass(protocol: str = "default") -> Bunch:
    """Glass (UCI), 214 × 9, 6 classes (numbered 1, 2, 3, 5, 6, 7 by UCI).

    ``protocol="paper"`` puts the row number back as a first column: Khashabi et al. (2015) kept it.
    """
    check_choice("protocol", protocol, ["default", "paper"])
    bunch = read_table("glass.csv.gz", load_glass.__doc__ or "")
    if protocol == "paper":
        number = np.arange(1.0, bunch.data.shape[0] + 1.0)
        bunch.data = np.column_stack([number, bunch.data])
        bunch.feature_names = ["Id", *bunch.feature_names]
    return bunch


def load_mnist() -> Bunch:
    """MNIST, 70,000 × 784 grey levels 0..255 (uint8), 10 classes; 60,000 training rows first."""
    with np.load(data_file("mnist.npz"), allow_pickle=False) as stored:
        data, (target, names) = stored["X"], encode(stored["y"])
    features = [f"pixel_{row}_{column}" for row in range(28) for column in range(28)]
    return Bunch(
        data=data,
        target=target,
        target_names=names,
        feature_names=features,
        DESCR=load_mnist.__doc__ or "",
    )


def load_mnist_2000(n_components: int | None = 50) -> Bunch:
    """2,000 rows of MNIST, the first of ``default_rng(0).permutation``, on 50 principal components.

    The components are those of the 2,000 rows, grey levels divided by 255. ``n_components=None``
    keeps the 784 pixels.
    """
    whole = load_mnist()
    rows = np.random.default_rng(0).permutation(whole.target.size)[:2000]
    bunch = take(whole, rows, load_mnist_2000.__doc__ or "")
    bunch.data = bunch.data / 255.0
    if n_components is not None:
        bunch.data = PCA(n_components, svd_solver="full").fit_transform(bunch.data)
        bunch.feature_names = [f"component_{k}" for k in range(n_components)]
    return bunch


def load_shape_file(name: str) -> Bunch:
    """One of the published two- and three-dimensional shapes, ``shapes2d/<name>``."""
    return read_table(f"{name}.csv.gz", f"{name.removeprefix('shapes2d/')}: a published shape.")


def load_textures() -> Bunch:
    """Three grey textures (brick, grass, gravel), each 512 × 512, in `images` (3, 512, 512)."""
    with np.load(data_file("textures_cc0_skimage.npz"), allow_pickle=False) as stored:
        names = sorted(stored.files)
        images = np.stack([stored[name] for name in names])
    fields: dict[str, Any] = {"target_names": np.asarray(names), "images": images}
    return Bunch(
        data=images.reshape(len(names), -1),
        target=np.arange(len(names), dtype=np.int64),
        DESCR=load_textures.__doc__ or "",
        **fields,
    )
