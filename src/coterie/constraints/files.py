"""Constraints on disk, as CSV or Parquet; a file is written whole or not at all.

CSV: a first line `# coterie constraints, n_samples=150`, then a header and one pair a line
(`i,j,kind,weight,certainty`; `inf` = hard, `nan` = no certainty). A line of the kind `exclusive`
says that row i is of the exclusive group j. Parquet: the same columns, with
n_samples in the schema's metadata under `coterie.n_samples`.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.exceptions import InvalidConstraints, InvalidParameter, MissingDependency
from coterie.files import new_file

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

COLUMNS = ("i", "j", "kind", "weight", "certainty")
FIRST_LINE = "# coterie constraints, n_samples="
METADATA_KEY = b"coterie.n_samples"
ROW = np.dtype([("i", "i8"), ("j", "i8"), ("kind", "U9"), ("weight", "f8"), ("certainty", "f8")])


def save(constraints: Constraints, path: str | os.PathLike[str]) -> None:
    """See `Constraints.save`."""
    target = Path(path)
    write = {".csv": _write_csv, ".parquet": _write_parquet}[_suffix(target)]
    with new_file(target) as temporary:
        write(constraints, temporary)


def load(path: str | os.PathLike[str]) -> Constraints:
    """See `Constraints.load`."""
    source = Path(path)
    read = {".csv": _read_csv, ".parquet": _read_parquet}[_suffix(source)]
    n_samples, columns = read(source)
    return _rebuild(source, n_samples, columns)


def _suffix(path: Path) -> str:
    if path.suffix not in (".csv", ".parquet"):
        raise InvalidParameter(f"{path.name}: the name must end in .csv or .parquet")
    return path.suffix


def _columns(constraints: Constraints) -> dict[str, np.ndarray]:
    """Pairs, then the rows of exclusive groups."""
    groups = constraints.exclusive
    group = groups.group_of
    return {
        "i": np.concatenate([constraints.pairs[:, 0], groups.rows]),
        "j": np.concatenate([constraints.pairs[:, 1], group]),
        "kind": np.concatenate(
            [np.where(constraints.kind > 0, "must", "cannot"), np.full(group.size, "exclusive")]
        ),
        "weight": np.concatenate([constraints.weight, groups.weight[group]]),
        "certainty": np.concatenate([constraints.certainty, groups.certainty[group]]),
    }


def _write_csv(constraints: Constraints, path: Path) -> None:
    columns = _columns(constraints)
    rows = np.empty(columns["i"].size, dtype=ROW)
    for name, values in columns.items():
        rows[name] = values
    header = f"{FIRST_LINE}{constraints.n_samples}\n{','.join(COLUMNS)}"
    # %s prints the shortest digits that read back as the same number.
    np.savetxt(path, rows, fmt="%s", delimiter=",", header=header, comments="")


def _read_csv(path: Path) -> tuple[int, dict[str, np.ndarray]]:
    with path.open(encoding="utf-8") as lines:
        first, header = lines.readline().strip(), lines.readline().strip()
        found = re.fullmatch(re.escape(FIRST_LINE) + r"(\d+)", first)
        if found is None or header != ",".join(COLUMNS):
            raise InvalidConstraints(
                f"{path} is not a constraints file: it must begin with '{FIRST_LINE}<n>' and "
                f"'{','.join(COLUMNS)}'. To read a table of your own, use Constraints.from_frame"
            )
        body = lines.read()
    try:
        rows = np.loadtxt(body.splitlines(), dtype=ROW, delimiter=",", ndmin=1) if body else None
    except ValueError as error:
        raise InvalidConstraints(f"{path}, counting from its third line: {error}") from error
    if rows is None:
        rows = np.empty(0, dtype=ROW)
    return int(found[1]), {name: rows[name] for name in COLUMNS}


def _write_parquet(constraints: Constraints, path: Path) -> None:
    arrow, parquet = _pyarrow()
    columns = {name: arrow.array(values.tolist() if name == "kind" else values)
               for name, values in _columns(constraints).items()}  # fmt: skip
    table = arrow.table(columns).replace_schema_metadata(
        {METADATA_KEY: str(constraints.n_samples).encode()}
    )
    parquet.write_table(table, path)


def _read_parquet(path: Path) -> tuple[int, dict[str, np.ndarray]]:
    _, parquet = _pyarrow()
    table = parquet.read_table(path)
    metadata = table.schema.metadata or {}
    if METADATA_KEY not in metadata or set(table.column_names) != set(COLUMNS):
        raise InvalidConstraints(
            f"{path} was not written by Constraints.save (it lacks n_samples or the columns "
            f"{', '.join(COLUMNS)}); to read a table of your own, use Constraints.from_frame"
        )
    return int(metadata[METADATA_KEY]), {name: table[name].to_numpy() for name in COLUMNS}


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingDependency(
            "Parquet files need pyarrow; install it with: pip install 'coterie[parquet]', or save "
            "as .csv"
        ) from error


def _rebuild(path: Path, n_samples: int, columns: dict[str, np.ndarray]) -> Constraints:
    from coterie.constraints.constraints import Constraints

    must, cannot, grouped = (columns["kind"] == word for word in ("must", "cannot", "exclusive"))
    odd = np.flatnonzero(~(must | cannot | grouped))
    if odd.size:
        raise InvalidConstraints(
            f"{path}, pair {odd[0]}: kind {str(columns['kind'][odd[0]])!r} is not must, cannot or "
            "exclusive"
        )
    pairs = np.column_stack([columns["i"], columns["j"]])[~grouped]
    weight, certainty = columns["weight"], columns["certainty"]
    made = Constraints.from_arrays(
        n_samples, pairs, must[~grouped], weight=weight[~grouped], certainty=certainty[~grouped]
    )
    if not grouped.any():
        return made
    at = np.flatnonzero(grouped)
    at = at[np.argsort(columns["j"][at], kind="stable")]
    _, first = np.unique(columns["j"][at], return_index=True)
    return made + Constraints(
        n_samples,
        exclusive=np.split(columns["i"][at], first[1:]),
        exclusive_weight=weight[at[first]],
        exclusive_certainty=certainty[at[first]],
    )
