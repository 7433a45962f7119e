"""A fitted model with all that is needed to use it again.

DIR/model is what `coterie.save` writes, DIR/recipe.json says how columns become features, and
DIR/made.json how it was made. No pickle anywhere.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from coterie import persistence
from coterie.exceptions import InvalidModel, NotWritten
from coterie.files import new_directory
from coterie.tables.recipe import Recipe
from coterie.tables.results import Results, results_of
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
    """

    model: Any
    recipe: Recipe
    made: dict[str, Any] = field(default_factory=dict)

    def predict(self, table: Table) -> Results:
        """The cluster of every row of a table with the columns that were fitted to."""
        if self.recipe.id_column in table.columns:
            table = table.named(table.ids(self.recipe.id_column))
        X, notes = self.recipe.apply(table)
        with warnings.catch_warnings():
            # The recipe sees to it that columns are those fitted to; a model that was fitted to
            # rows in files knows their names, and scikit-learn would miss them.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            labels = np.asarray(self.model.predict(X))
            return Results(results_of(self.model, X, labels, new=True), notes)


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
        _write_json(folder / "recipe.json", bundle.recipe.to_json())
        _write_json(folder / "made.json", made)
    return target


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Read what `save_bundle` wrote; anything else is refused."""
    source = Path(path)
    made = _read_made(source)
    recipe = Recipe.from_json(_read_json(source / "recipe.json"))
    return Bundle(persistence.load(source / "model"), recipe, made)


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
            f"{path} holds a model alone, without the recipe for its columns (as `coterie fit "
            "--records --save` and coterie.save write it). Use it from Python: coterie.load(path)."
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
