"""One list of every data set: what it is called, which file it needs, how it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from sklearn.utils import Bunch

from coterie.datasets import _generated, _pccc, _tables, _text
from coterie.datasets._files import data_home
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.words import nearest


class _Entry(NamedTuple):
    loader: Callable[..., Bunch]
    file: str | None = None  # under `data_home`; None: nothing is needed


def _fixed_entries() -> dict[str, _Entry]:
    tables = {
        name: _Entry(partial(_tables.load_table, name), f"{stem}.csv.gz")
        for name, (stem, _) in _tables.TABLES.items()
    }
    entries = {name: _Entry(partial(_tables.load_bundled, name)) for name in _tables.BUNDLED}
    entries |= {"balance_scale": _Entry(_generated.balance_scale)}
    entries |= {"waveform": _Entry(_generated.waveform)}
    for name in (*_generated.PPC_SETS, *_generated.PATTERNS):
        entries[name] = _Entry(partial(_generated.shape, name))
    entries |= tables
    for name, (table, _, _) in _tables.SUBSETS.items():
        entries[name] = _Entry(partial(_tables.load_subset, name), tables[table].file)
    for name in (*_text.NEWS, "news_all_20"):
        entries[name] = _Entry(partial(_text.load_news, name), "newsgroups20.jsonl.gz")
    return entries | {
        "pendigits_0689": _Entry(_tables.load_pendigits_0689, tables["pendigits"].file),
        "glass": _Entry(_tables.load_glass, "glass.csv.gz"),
        "mnist": _Entry(_tables.load_mnist, "mnist.npz"),
        "mnist_2000": _Entry(_tables.load_mnist_2000, "mnist.npz"),
        "textures": _Entry(_tables.load_textures, "textures_cc0_skimage.npz"),
        "classic3": _Entry(_text.load_classic3, "classic3.jsonl.gz"),
        "classic3_subset": _Entry(_text.load_classic3_subset, "classic3.jsonl.gz"),
        "classic3_counts": _Entry(_text.load_classic3_counts, "classic3_counts.npz"),
    }


_FIXED = _fixed_entries()
_FOLDERS: dict[str, Callable[[str], Bunch]] = {
    "shapes2d": _tables.load_shape_file,
    "pccc/col1": _pccc.load_pccc,
    "pccc/col2": _pccc.load_pccc,
    "pccc/col3": _pccc.load_pccc,
}


def _in_folders() -> list[str]:
    """Names of the sets that are one file each in a folder of the data folder."""
    return [
        f"{folder}/{path.name.removesuffix('.csv.gz')}"
        for folder in _FOLDERS
        for path in sorted((data_home() / folder).glob("*.csv.gz"))
    ]


def available(*, missing: bool = False) -> list[str]:
    """Names that `load` takes.

    Parameters
    ----------
    missing : bool, default False
        Also name the sets whose file is absent (see `data_home`).

    Returns
    -------
    list of str
        Sorted; sets that are one file in a folder read ``folder/set``.
    """
    home = data_home()
    fixed = [
        name
        for name, entry in _FIXED.items()
        if missing or entry.file is None or (home / entry.file).is_file()
    ]
    return sorted([*fixed, *_in_folders()])


def load(name: str, **options: Any) -> Bunch:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `available`.
    **options
        Of that set: `n_samples`, `noise_features`, `random_state` of "waveform"; `n_per_class`,
        `random_state` of the shapes; `protocol` of "glass"; `n_components` of "mnist_2000";
        `weighting` ("tfidf" or "counts") of the text sets.

    Returns
    -------
    Bunch
        `data` (n, d) (CSR for text), `target` (n,) int64 in 0..k-1, `target_names` (k,),
        `feature_names`, `DESCR`.

    Raises
    ------
    MissingData
        The set is not bundled and its file is absent; the message says where to put it.
    InvalidParameter
        No set has that name.
    """
    check_arguments(load, locals())
    if name in _FIXED:
        return _FIXED[name].loader(**options)
    folder, _, short = name.rpartition("/")
    if folder in _FOLDERS and short and short.strip(".") == short:
        return _FOLDERS[folder](name, **options)
    hint = nearest(name, available(missing=True))
    raise InvalidParameter(
        f"There is no data set {name!r}.{hint} See coterie.datasets.available()."
    )
