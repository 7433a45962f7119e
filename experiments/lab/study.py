"""A study: one folder with `config.toml`, `run.py` and `claims.toml`; and the cells it asks for."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from lab.tables import Row, short

CellFunction = Callable[..., Iterable[Row]]
PROFILES = ("quick", "full")


class BadStudy(ValueError):
    """A study's files contradict each other; the message names the file and the field."""


@dataclass(frozen=True)
class Cell:
    """The unit of work, of resuming and of pairing: one part, one value of each axis, one draw.

    `axes` are columns of the results; `constants` are handed to the cell function only.
    """

    part: str
    axes: dict[str, Any]
    draw: int
    seed: int
    constants: dict[str, Any]

    @property
    def key(self) -> str:
        """Name in the log of finished cells; also made from a row of the results."""
        return "|".join([self.part, *map(short, self.axes.values()), str(self.draw)])

    @property
    def digest(self) -> str:
        """Changes when a constant or the seed does: the cell must then be run again."""
        text = json.dumps([self.seed, self.constants], sort_keys=True)
        return hashlib.sha1(text.encode()).hexdigest()[:8]

    def identity(self) -> Row:
        """The columns that say which cell a row belongs to."""
        return {"part": self.part, **self.axes, "draw": self.draw}


@dataclass(frozen=True)
class Study:
    """A folder, read.

    Attributes
    ----------
    folder : Path
    config : dict
        `config.toml` as it is: title, paper (authors and year, where there is one), intro, keys,
        scores, seed, parts, profiles, figures, tables.
    claims : list of dict
        `claims.toml`, in its order.
    """

    folder: Path
    config: dict[str, Any]
    claims: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def axes(self) -> list[str]:
        """Axes of all parts, in the order they are first named."""
        parts = self.config["parts"].values()
        return list(dict.fromkeys(axis for part in parts for axis in part.get("axes", {})))

    @property
    def columns(self) -> list[str]:
        """Columns of the results: what identifies a cell, then the keys of a row, then scores."""
        return ["part", *self.axes, "draw", *self.config["keys"], *self.config["scores"]]

    def cells(self, profile: str) -> list[Cell]:
        """Every cell, all of one draw before any of the next, so that a stopped run is balanced."""
        found = [cell for part in self.config["parts"] for cell in self._part(part, profile)]
        return sorted(found, key=lambda cell: cell.draw)

    def _part(self, name: str, profile: str) -> Iterator[Cell]:
        chosen = self.config[profile]
        whole, changed = self.config["parts"][name], chosen.get("parts", {}).get(name, {})
        settings = {**whole, **changed}
        axes = {**whole.get("axes", {}), **settings.pop("axes", {})}
        draws = settings.pop("draws", chosen.get("draws"))
        if draws is None:
            raise BadStudy(f"{self.name}/config.toml: [{profile}] says no draws for part {name}")
        first = int(self.config.get("seed", 0))
        for values in product(*axes.values()):
            for draw in range(draws):
                yield Cell(name, dict(zip(axes, values, strict=True)), draw, first + draw, settings)

    def cell_function(self) -> CellFunction:
        """`cell` of run.py, which may import modules beside it."""
        if str(self.folder) not in sys.path:
            sys.path.insert(0, str(self.folder))
        spec = importlib.util.spec_from_file_location(
            f"run_{self.name.replace('-', '_')}", self.folder / "run.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.cell


def load_study(folder: Path) -> Study:
    """Read a folder's files and refuse what cannot be right."""
    folder = folder.resolve()
    config = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
    for field in ("title", "intro", "keys", "scores", "parts", *PROFILES):
        if field not in config:
            raise BadStudy(f"{folder.name}/config.toml lacks {field}")
    path = folder / "claims.toml"
    claims = tomllib.loads(path.read_text(encoding="utf-8"))["claim"] if path.exists() else []
    ids = [claim["id"] for claim in claims]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise BadStudy(f"{folder.name}/claims.toml: the id {sorted(twice)[0]} is used twice")
    study = Study(folder, config, claims)
    if len(set(study.columns)) < len(study.columns):
        raise BadStudy(f"{folder.name}/config.toml: a column is named twice: {study.columns}")
    return study


def find_studies(root: Path) -> list[Study]:
    """Every folder of `root` that has a config: papers by year, then what is no paper's by name."""
    found = [load_study(path.parent) for path in sorted(root.glob("*/config.toml"))]
    return sorted(found, key=lambda study: study.config.get("paper", {}).get("year", math.inf))
