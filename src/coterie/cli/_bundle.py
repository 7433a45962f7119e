"""A fitted model with all that is needed to use it again: `--save DIR`.

DIR/model is what `coterie.save` writes, DIR/recipe.json says how columns become features, and
DIR/made.json how it was made. No pickle anywhere.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from coterie import persistence
from coterie.cli._files import NotWritten, new_directory
from coterie.cli._recipe import Recipe
from coterie.exceptions import InvalidModel

__all__ = ["Bundle", "check_bundle_target", "how_made", "load_bundle", "save_bundle"]

FORMAT = "coterie-bundle"
FORMAT_VERSION = 1
_PACKAGES = ("coterie", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Bundle:
    """A fitted estimator, the recipe of its features, and how it was made (see `how_made`)."""

    model: Any
    recipe: Recipe
    made: dict[str, Any]


def how_made(model: Any, **facts: Any) -> dict[str, Any]:
    """What a reader may want to know later: versions, parameters, objective and `facts`."""
    history = next(
        (
            getattr(model, name)
            for name in ("objective_history_", "lower_bounds_")
            if hasattr(model, name)
        ),
        None,
    )
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv[1:],
        "versions": {
            "python": sys.version.split()[0],
            **{name: version(name) for name in _PACKAGES},
        },
        "estimator": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params().items()},
        "objective_history": None if history is None else list(map(_plain, history)),
        **facts,
    }


def save_bundle(bundle: Bundle, path: Path) -> None:
    """Write a bundle; the folder appears complete or not at all."""
    with new_directory(path) as folder:
        persistence.save(bundle.model, folder / "model")
        _write_json(folder / "recipe.json", bundle.recipe.to_json())
        _write_json(folder / "made.json", bundle.made)


def load_bundle(path: Path) -> Bundle:
    """Read what `save_bundle` wrote; anything else is refused."""
    made = _read_made(path)
    recipe = Recipe.from_json(_read_json(path / "recipe.json"))
    return Bundle(persistence.load(path / "model"), recipe, made)


def check_bundle_target(path: Path) -> None:
    """Refuse to replace anything but a bundle."""
    if not path.exists():
        return
    try:
        _read_made(path)
    except InvalidModel as error:
        raise NotWritten(f"{path} exists and is not a saved model; it is not replaced.") from error


def _read_made(path: Path) -> dict[str, Any]:
    made = _read_json(path / "made.json")
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise InvalidModel(f"{path} is not a model saved by `coterie fit --save`.")
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
        raise InvalidModel(
            f"{path.parent} is not a model saved by `coterie fit --save`: no readable {path.name}."
        ) from error


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has not (infinity, objects), as text."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    plain = value is None or isinstance(value, bool | int | str | list)
    return value if plain or (isinstance(value, float) and np.isfinite(value)) else repr(value)
