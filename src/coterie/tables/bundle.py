"""A fitted model with all that is needed to use it again.

DIR/model is what `coterie.save` writes, DIR/recipe.json says how columns become features (its long
arrays are in DIR/recipe), DIR/made.json how it was made, and DIR/ids.json the ids of the rows, if
they have some. No pickle anywhere.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from coterie import persistence
from coterie._npy import load_npy
from coterie.exceptions import InvalidModel, NotWritten
from coterie.files import new_directory, write_array
from coterie.tables.recipe import Recipe
from coterie.tables.results import Results, results_of, scattered
from coterie.tables.table import Table
from coterie.versions import versions

__all__ = ["Bundle", "check_bundle_target", "how_made", "load_bundle", "save_bundle"]

FORMAT = "coterie-bundle"
FORMAT_VERSION = 1
_NOT_ONE = "is not a model saved by `coterie fit --save` or coterie.tables.save_bundle"


@dataclass(frozen=True)
class Bundle:
    """A fitted estimator and the recipe of its features.

    Attributes
    ----------
    model : estimator
    recipe : Recipe
    made : dict
        How it was made (see `how_made`), for readers.
    ids : sequence of str, optional
        The id of every row of the fit, by which a later fit knows them.
    """

    model: Any
    recipe: Recipe
    made: dict[str, Any] = field(default_factory=dict)
    ids: Sequence[str] | None = None

    def predict(self, table: Table) -> Results:
        """The cluster of every row of a table with the columns that were fitted to.

        Rows without any word, of a model of texts alone, are in no cluster: -1.
        """
        name = self.recipe.id_column
        if name is not None and name in table.columns:
            table.ids(name)  # refuses one that is there twice
            table = table.named(name)
        X, notes = self.recipe.apply(table)
        if not self.recipe.of_texts:
            return Results(self._results(X), notes)
        placed = np.flatnonzero(self.recipe.with_words(X))
        return Results(scattered(self._results(X[placed]), placed, table.n_rows), notes)

    def _results(self, X: Any) -> dict[str, Any]:
        if not X.shape[0]:
            return results_of(self.model, X, np.empty(0, dtype=np.int32), new=True)
        with warnings.catch_warnings():
            # The recipe sees to it that columns are those fitted to; a model that was fitted to
            # rows in files knows their names, and scikit-learn would miss them.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            labels = np.asarray(self.model.predict(X))
            return results_of(self.model, X, labels, new=True)


def how_made(model: Any, **facts: Any) -> dict[str, Any]:
    """What a reader may want to know later: versions, parameters, objective and `facts`.

    Whatever a parameter is, this gives something that JSON can hold: a finished fit is never lost
    for a note about it.
    """
    history = next(
        (
            getattr(model, name)
            for name in ("objective_history_", "lower_bounds_")
            if hasattr(model, name)
        ),
        None,
    )
    made = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
        "objective_history": None if history is None else list(map(_plain, history)),
    }
    return made | {name: _plain(value) for name, value in facts.items()}


def save_bundle(bundle: Bundle, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a bundle; the folder appears complete or not at all.

    Parameters
    ----------
    bundle : Bundle
    path : path-like
        The folder to make.
    overwrite : bool, default False
        Replace a bundle that is already there. Anything else that is there is never replaced.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from coterie import PCKMeans
    >>> from coterie.tables import Bundle, Recipe, Table, load_bundle, save_bundle
    >>> table = Table.of("t", {"x": np.array([1.0, 1.1, 9.0])})
    >>> recipe = Recipe.learn(table)
    >>> model = PCKMeans(2, random_state=0).fit(recipe.apply(table).X)
    >>> folder = save_bundle(Bundle(model, recipe), pathlib.Path(tempfile.mkdtemp()) / "model")
    >>> found = load_bundle(folder).predict(table).columns["cluster"]
    >>> bool((found == model.labels_).all())
    True
    """
    target = Path(path)
    check_bundle_target(target)
    if target.exists() and not overwrite:
        raise NotWritten(f"{target} exists; choose another name, or pass overwrite=True.")
    made = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **(bundle.made or how_made(bundle.model)),
    }
    with new_directory(target) as folder:
        persistence.save(bundle.model, folder / "model")
        _write_recipe(folder, bundle.recipe)
        _write_json(folder / "made.json", made)
        if bundle.ids is not None:
            _write_json(folder / "ids.json", list(bundle.ids))
    return target


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Read what `save_bundle` wrote; anything else is refused."""
    source = Path(path)
    made = _read_made(source)
    recipe = _read_recipe(source)
    model = persistence.load(source / "model")
    return Bundle(model, recipe, made, _read_ids(source / "ids.json", model))


def _read_ids(path: Path, model: Any) -> list[str] | None:
    """The ids of the rows of the fit, if they were kept."""
    if not path.exists():
        return None
    ids = _read_json(path)
    n = len(model.labels_)
    if not isinstance(ids, list) or len(ids) != n or not all(isinstance(i, str) for i in ids):
        raise InvalidModel(f"{path.parent} {_NOT_ONE}: {path.name} does not hold {n} ids.")
    return ids


def check_bundle_target(path: Path) -> None:
    """Refuse to replace anything but a bundle."""
    if not path.exists():
        return
    try:
        _read_made(path)
    except InvalidModel as error:
        raise NotWritten(f"{path} exists and is not a saved model; it is not replaced.") from error


def _read_made(path: Path) -> dict[str, Any]:
    if (path / "model.json").is_file() and not (path / "made.json").exists():
        raise InvalidModel(
            f"{path} holds a model alone, without the recipe for its columns (as coterie.save "
            "writes it; models of `coterie fit --records --save` are for predict, report and "
            "fit --records --like). Use it from Python: coterie.load(path)."
        )
    made = _read_json(path / "made.json")
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise InvalidModel(f"{path} {_NOT_ONE}.")
    if made.get("format_version") != FORMAT_VERSION:
        raise InvalidModel(
            f"{path} has format version {made.get('format_version')!r}; this Coterie reads "
            f"{FORMAT_VERSION}. It was written by Coterie {made.get('versions')}."
        )
    return made


def _write_recipe(folder: Path, recipe: Recipe) -> None:
    """recipe.json, and its arrays as .npy files in the folder `recipe` if there are any."""
    content, arrays = recipe.to_parts()
    if arrays:
        (folder / "recipe").mkdir()
    for name, array in arrays.items():
        write_array(folder / "recipe" / f"{name}.npy", array)
    _write_json(folder / "recipe.json", content)


def _read_recipe(source: Path) -> Recipe:
    arrays = {}
    for path in sorted((source / "recipe").glob("*.npy")):
        try:
            with path.open("rb") as stream:
                arrays[path.stem] = load_npy(stream, path.stat().st_size)
        except (OSError, ValueError) as error:
            raise InvalidModel(f"{source}: {path.name} {error}.") from error
    return Recipe.from_json(_read_json(source / "recipe.json"), arrays)


def _write_json(path: Path, content: Any) -> None:
    path.write_text(
        json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8"
    )


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidModel(f"{path.parent} {_NOT_ONE}: no readable {path.name}.") from error


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has not (infinity, objects), as text."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    try:
        return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return repr(value)
