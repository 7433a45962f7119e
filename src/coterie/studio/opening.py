"""From a file in the session's folder to a session; what its columns are and how they are used."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.studio.body import Body, wrong
from coterie.studio.errors import Refused

if TYPE_CHECKING:
    from coterie.active import ActiveSession, AnswerStore
    from coterie.studio.desk import Places
    from coterie.tables import Asking, Choices, RecordChoices, Table

__all__ = ["ENDINGS", "USES", "Opening", "files", "free_name", "from_body", "preview"]

#: How a column can be used; "auto" leaves it to the recipe.
USES = ("auto", "number", "category", "date", "text", "words", "vector", "ignore")
_USED_AS = {"topics": "text", "text": "words", "categories": "category"}  # kinds of a recipe
_PLAIN = (".csv", ".tsv", ".jsonl")
#: How the names of tables end that a page can open.
ENDINGS = (*_PLAIN, *(f"{end}.gz" for end in _PLAIN), ".xlsx", ".parquet", ".feather", ".arrow")
_NAME = re.compile(r"\w[\w. ()\[\]&,;'+=@#!-]{0,99}")  # letters of any script; no sign of a path
_MOST_NAME = 200  # bytes: file systems take 255, and the log has a longer name
_EXAMPLES = 5
_MOST_DISTINCT = 10_000  # values that are counted


class Opening(NamedTuple):
    """What a session is made from: a file, and what was said about it.

    Attributes
    ----------
    data : Path
    answers : Path
        The log.
    pairs : Path or None
        What is known already.
    choices : dict
        For `Choices`, or with `records` for `RecordChoices`.
    records : bool
    n_clusters : int or None
    strategy : str or None
    error_rate : float or None
    budget, seed : int or None
    fields : tuple of str
        Columns that are shown.
    """

    data: Path
    answers: Path
    pairs: Path | None = None
    choices: dict[str, Any] = {}  # noqa: RUF012 (a named tuple's default is shared and not changed)
    records: bool = False
    n_clusters: int | None = None
    strategy: str | None = None
    error_rate: float | None = None
    budget: int | None = None
    seed: int | None = None
    fields: tuple[str, ...] = ()

    def read(self) -> Asking:
        """Read the table and decide how to ask."""
        from coterie.tables import Choices, RecordChoices, ask_about_records, ask_about_rows

        rest: dict[str, Any] = {"error_rate": self.error_rate, "fields": self.fields}
        if self.records:
            return ask_about_records(self.data, self.pairs, RecordChoices(**self.choices), **rest)
        rest |= {"strategy": self.strategy, "n_clusters": self.n_clusters}
        return ask_about_rows(self.data, self.pairs, Choices(**self.choices), **rest)

    def begin(self, asking: Asking, store: AnswerStore) -> ActiveSession:
        """The session of the log."""
        from coterie.tables import open_session

        return open_session(asking, store, self.data, budget=self.budget, random_state=self.seed)

    # -- the same in Python and on the command line ----------------------------------------
    def _said(self) -> dict[str, Any]:
        """What was said about columns, without what is as it would be anyway."""
        return {name: value for name, value in self.choices.items() if value}

    def python(self, places: Places) -> str:
        """A program that opens the log and clusters by its answers."""
        said = ", ".join(f"{name}={_plain(value)!r}" for name, value in self._said().items())
        kind = "records" if self.records else "rows"
        chosen = f"{'RecordChoices' if self.records else 'Choices'}({said})"
        given = [repr(self.data.name), repr(self.pairs and self.pairs.name), chosen]
        for name in ("n_clusters", "strategy", "error_rate"):
            if getattr(self, name) is not None:
                given.append(f"{name}={getattr(self, name)!r}")
        rest = f", budget={self.budget}" if self.budget is not None else ""
        return "\n".join(
            [
                f"# Run it in the folder of {self.data.name}, with the studio closed.",
                "from coterie.active import AnswerStore",
                f"from coterie.tables import {chosen.partition('(')[0]}, "
                f"ask_about_{kind}, open_session",
                "",
                f"asking = ask_about_{kind}({', '.join(given)})",
                f"with AnswerStore({self.answers.name!r}) as store:",
                f"    session = open_session(asking, store, {self.data.name!r}{rest})",
                "    labels = session.labels()  # the cluster of every row",
                "    names = session.names  # what you called them",
                "    constraints = session.constraints  # for any estimator: fit(X, "
                "constraints=...)",
                "for row, cluster in zip(asking.ids, labels):",
                "    print(row, names.get(int(cluster), int(cluster)), sep='\\t')",
                "",
            ]
        )

    def command(self, places: Places) -> str:
        """The command that opens the same session."""
        parts = ["coterie studio", _quoted(self.data.name)]
        parts += ["--records"] if self.records else []
        if self.n_clusters is not None:
            parts.append(f"-k {self.n_clusters}")
        for name, value in self._said().items():
            option = "--id" if name == "id_column" else f"--{name}"
            if isinstance(value, bool):
                parts.append(option)
            elif isinstance(value, str):
                parts.append(f"{option} {_quoted(value)}")
            elif isinstance(value, dict):
                said = ",".join(f"{column}:{kind}" for column, kind in value.items())
                parts.append(f"{option} {_quoted(said)}")
            else:
                parts.append(f"{option} {_quoted(','.join(value))}")
        if self.pairs is not None:
            parts.append(f"--constraints {_quoted(self.pairs.name)}")
        return " ".join(parts)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else value


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


# -- the folder --------------------------------------------------------------------------------
def files(folder: Path) -> list[dict[str, Any]]:
    """Tables in the folder itself; hidden ones and links to elsewhere are not among them."""
    base = folder.resolve()
    found = []
    for path in sorted(base.iterdir()):
        is_table = path.name.lower().endswith(ENDINGS) and not path.name.startswith(".")
        if is_table and path.is_file() and path.resolve().parent == base:
            found.append({"name": path.name, "bytes": path.stat().st_size})
    return found


def find(folder: Path, name: str) -> Path:
    """The table of this name in the folder: only what is listed can be opened."""
    if name not in [entry["name"] for entry in files(folder)]:
        raise Refused("NotFound", "There is no table of this name in the folder.", 404)
    return folder.resolve() / name


def free_name(folder: Path, name: str) -> Path:
    """Where an upload of this name goes: a new file, numbered if the name is taken."""
    name = unicodedata.normalize("NFC", name)  # some systems write ü as two letters
    plain = _NAME.fullmatch(name) and ".." not in name and name.strip() == name
    if not plain or len(name.encode()) > _MOST_NAME:
        raise Refused(
            "InvalidRequest",
            "The name of a file may have up to 100 letters, digits, spaces and signs, none of "
            '/ \\ : * ? " < > |, and no point at its beginning. Rename it and try again.',
            field="name",
        )
    ending = next((s for s in ENDINGS if name.lower().endswith(s)), None)
    if ending is None:
        told = f"A table whose name ends in {', '.join(ENDINGS)} can be opened; this one does not."
        raise Refused("InvalidRequest", told, field="name")
    stem, number = name[: -len(ending)], 1
    path = folder / name
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{name[-len(ending) :]}"
    return path


# -- looking before opening --------------------------------------------------------------------
def preview(folder: Path, body: Body) -> dict[str, Any]:
    """What a table holds and how its columns would be used."""
    from coterie.exceptions import CoterieError
    from coterie.tables import looks_like_records, read_table

    path = find(folder, body.text("file"))
    table = read_table(path)
    id_column, uses = body.text("id", None), _uses(body)
    likely = bool(looks_like_records(table, id_column))
    records = body.flag("records", likely)
    features, error = 0, None
    chosen: dict[str, str] = {}
    try:
        if records:
            chosen = _records_used(table, _record_choices(id_column, uses))
            features = len(chosen)
        else:
            chosen, features = _learned(table, _choices(id_column, uses, body))
    except CoterieError as problem:
        error = str(problem)
    return {
        "file": path.name,
        "n_rows": table.n_rows,
        "columns": [
            {
                **_column(table, name, chosen, id_column, uses),
                "choices": [_as_field(table, name), "ignore"] if records else list(USES),
            }
            for name in table.columns
        ],
        "features": features,
        "id": id_column,
        "looks_like_records": likely,
        "records": records,
        "error": error,
        "sample": _sample(table),
    }


def _learned(table: Table, choices: Choices) -> tuple[dict[str, str], int]:
    from coterie.tables import Recipe

    table.ids(choices.id_column)
    recipe = Recipe.learn(table, choices)
    recipe.apply(table)
    used = {
        part.column: _USED_AS.get(part.kind, part.kind)
        for part in recipe.parts
        if hasattr(part, "column")
    }
    return used, len(recipe.feature_names)


def _records_used(table: Table, choices: RecordChoices) -> dict[str, str]:
    from coterie.exceptions import InvalidData

    table.ids(choices.id_column)
    out = {choices.id_column, *choices.drop}
    left = [name for name in choices.features or table.columns if name not in out]
    if not left:
        raise InvalidData("every column is left out; use at least one of them.")
    return {name: _as_field(table, name) for name in left}


def _as_field(table: Table, name: str) -> str:
    return "text" if table.column(name).kind == "text" else "number"


def _column(
    table: Table, name: str, chosen: dict[str, str], id_column: str | None, uses: dict[str, str]
) -> dict[str, Any]:
    column = table.columns[name]
    texts = column.texts()
    values = [text for text in texts.tolist() if text not in (None, "")]
    different = set(values[:_MOST_DISTINCT])
    said = uses.get(name, "auto")
    use = "id" if name == id_column else chosen.get(name, said if said != "auto" else "ignore")
    return {
        "name": name,
        "kind": column.kind,
        "use": use,
        "missing": len(texts) - len(values),
        "distinct": len(different) if len(values) <= _MOST_DISTINCT else None,
        "examples": [value[:200] for value in list(dict.fromkeys(values[:1000]))[:_EXAMPLES]],
        "unique": len(values) == len(texts) and len(set(values)) == len(values),
    }


def _sample(table: Table, rows: int = 5) -> list[list[str]]:
    columns = [column.cells(0, min(rows, table.n_rows)) for column in table.columns.values()]
    return [["" if v is None else str(v)[:200] for v in row] for row in zip(*columns, strict=True)]


# -- what was chosen ---------------------------------------------------------------------------
def _uses(body: Body) -> dict[str, str]:
    uses = body.texts("columns")
    for name, use in uses.items():
        if use not in (*USES, "id"):
            raise wrong("columns", f"{name}: must be one of {', '.join(USES)}")
    return uses


def _choices(id_column: str | None, uses: dict[str, str], body: Body) -> Choices:
    from coterie.tables import Choices

    said = {
        name: "drop" if use == "ignore" else use
        for name, use in uses.items()
        if use not in ("auto", "id") and name != id_column
    }
    scale, impute = body.flag("scale"), body.flag("impute")
    return Choices(id_column=id_column, columns=said, scale=scale, impute=impute)


def _record_choices(id_column: str | None, uses: dict[str, str]) -> RecordChoices:
    from coterie.tables import RecordChoices

    ignored = tuple(n for n, use in uses.items() if use == "ignore" and n != id_column)
    return RecordChoices(id_column=id_column, drop=ignored)


def from_body(folder: Path, body: Body) -> Opening:
    """The session that a page asks for."""
    path = find(folder, body.text("file"))
    id_column, uses = body.text("id", None), _uses(body)
    records = body.flag("records")
    chosen = _record_choices(id_column, uses) if records else _choices(id_column, uses, body)
    pairs = body.text("constraints", None)
    return Opening(
        data=path,
        answers=path.with_name(path.name + ".answers.db"),
        pairs=None if pairs is None else find(folder, pairs),
        choices=chosen._asdict(),
        records=records,
        n_clusters=None if records else body.integer("clusters", None, 1, 10**6),
        budget=body.integer("budget", None, 0),
    )
