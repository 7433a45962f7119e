"""From a file in the session's folder to a session; what its columns are and how they are used."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.studio.body import Body, wrong
from coterie.studio.errors import Refused
from coterie.studio.notebook import notes_beside, recalled

if TYPE_CHECKING:
    from coterie.active import ActiveSession, AnswerStore
    from coterie.studio.desk import Places
    from coterie.tables import Asking, Choices, RecordChoices, Table

__all__ = ["ENDINGS", "USES", "Opening", "files", "free_name", "from_body", "preview"]

#: How a column can be used; "auto" leaves it to the recipe.
USES = ("auto", "number", "category", "date", "text", "words", "vector", "ignore")
#: How a field of records can be compared; a vector is no field of a table.
FIELD_USES = ("text", "date", "number", "category", "set", "ignore")
_SEEN = 2000  # rows whose values say what a field holds
_ID_NAME = re.compile(r"(?i:(.*[ _-])?(id|key))|.*[a-z](Id|ID)")  # Order ID, order_id, orderId
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
        from coterie.tables import ask_about_records, ask_about_rows

        chosen: Any = self.chosen()
        rest: dict[str, Any] = {"error_rate": self.error_rate, "fields": self.fields}
        if self.records:
            return ask_about_records(self.data, self.pairs, chosen, **rest)
        rest |= {"strategy": self.strategy, "n_clusters": self.n_clusters}
        return ask_about_rows(self.data, self.pairs, chosen, **rest)

    def chosen(self) -> Choices | RecordChoices:
        """What was said about the columns."""
        from coterie.exceptions import InvalidData
        from coterie.tables import Choices, RecordChoices

        kind = RecordChoices if self.records else Choices
        strange = set(self.choices) - set(kind._fields)
        if strange:  # notes that somebody has changed, or of another version
            raise InvalidData(
                f"{notes_beside(self.answers)} speaks of {min(strange)!r}, which is not known "
                "here; remove that file and say again how the columns are used."
            )
        return kind(**self.choices)

    def begin(self, asking: Asking, store: AnswerStore) -> ActiveSession:
        """The session of the log."""
        from coterie.tables import open_session

        return open_session(asking, store, self.data, budget=self.budget, random_state=self.seed)

    # -- the same another day --------------------------------------------------------------
    def remembered(self) -> dict[str, Any]:
        """What was said, as JSON; files are those of the command that is given again."""
        said = {"choices": {name: _plain(value) for name, value in self._said().items()}}
        rest = ("records", "n_clusters", "strategy", "error_rate", "budget", "seed", "fields")
        return said | {name: _plain(getattr(self, name)) for name in rest}

    @classmethod
    def recall(cls, data: Path) -> Opening | None:
        """As this table was opened the last time; None if it never was, or with other files."""
        answers = data.with_name(data.name + ".answers.db")
        said = recalled(notes_beside(answers))
        if not answers.is_file() or said is None:
            return None
        return cls(data, answers, **{**said, "fields": tuple(said.get("fields", ()))})

    # -- the same in Python and on the command line ----------------------------------------
    def _said(self) -> dict[str, Any]:
        """What was said about columns, without what is as it would be anyway."""
        return {name: value for name, value in self.choices.items() if value}

    def python(self, shown: Mapping[int, str]) -> str:
        """A program that opens the log, clusters by its answers and says the page's numbers.

        `shown` has a row of every cluster of the page. What a session calls its clusters depends
        on those that it had before, so a session that is opened anew may call them otherwise.
        """
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
                "    labels = session.labels()",
                "    names = session.names  # what you called them",
                "    constraints = session.constraints  # for any estimator: fit(X, "
                "constraints=...)",
                f"shown = {dict(shown)!r}  # clusters of the page, each by one of its rows",
                "place = {row: at for at, row in enumerate(asking.ids)}",
                "numbers = {labels[place[row]]: k for k, row in shown.items() if row in place}",
                "for row, cluster in zip(asking.ids, labels):",
                "    number = numbers.get(cluster, f'new {cluster}')",
                "    print(row, names.get(int(cluster), number), sep='\\t')",
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
            option = {"id_column": "--id", "kinds": "--fields"}.get(name, f"--{name}")
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
    if isinstance(value, Mapping):
        return dict(value)
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
    """What a table holds and how its columns would be used.

    Where the request says nothing about the columns, it is how they were used the last time, or
    what seems best.
    """
    from coterie.exceptions import CoterieError
    from coterie.tables import looks_like_records, read_table

    path = find(folder, body.text("file"))
    table = read_table(path)
    first = "id" not in body.values
    before = Opening.recall(path) if first else None
    id_column = _likely_id(table) if first else body.text("id", None)
    uses = _uses(body)
    likely = bool(looks_like_records(table, id_column))
    records, clusters = body.flag("records", likely), None
    choices: Any = None
    features, error = 0, None
    chosen: dict[str, str] = {}
    try:
        if before is not None:
            records, clusters = before.records, before.n_clusters
            choices = before.chosen()
            id_column = choices.id_column
        if records:
            chosen = _records_used(table, choices or _record_choices(id_column, uses))
            features = len(chosen)
        else:
            chosen, features = _learned(table, choices or _choices(id_column, uses, body, first))
    except CoterieError as problem:
        error = _for_the_page(str(problem), path.name)
        chosen = dict.fromkeys(table.columns, "auto") | uses
    return {
        "file": path.name,
        "n_rows": table.n_rows,
        "columns": [
            {
                **_column(table, name, chosen, id_column),
                "choices": list(FIELD_USES if records else USES),
            }
            for name in table.columns
        ],
        "features": features,
        "id": id_column,
        "clusters": clusters,
        "scale": bool(getattr(choices, "scale", body.flag("scale", first))),
        "impute": bool(getattr(choices, "impute", body.flag("impute", first))),
        "goes_on": path.with_name(path.name + ".answers.db").is_file(),
        "looks_like_records": likely,
        "records": records,
        "error": error,
        "sample": _sample(table),
    }


def _likely_id(table: Table) -> str | None:
    """A column that is called like an id, and has a value of its own in every row."""
    for name, column in table.columns.items():
        if _ID_NAME.fullmatch(name.strip()):
            values = column.texts().tolist()
            if all(values) and len(set(values)) == len(values):
                return name
    return None


def _for_the_page(problem: str, file: str) -> str:
    """A problem in the page's own words: which column, and that it is mended there."""
    sentence, _, _ = re.sub(rf"^\S*{re.escape(file)}: ", "", problem).partition(". ")
    if not sentence.startswith("column "):
        return problem
    return f"{sentence[0].upper()}{sentence[1:]}. Choose below how it is used, or do not use it."


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
    """What is compared, and as what: as was said, else by the first values."""
    from coterie.exceptions import InvalidData
    from coterie.records.fields import read_fields
    from coterie.tables.record_inputs import column_values

    table.ids(choices.id_column)
    out = {choices.id_column, choices.exclusive, *choices.drop}
    named = choices.kinds or choices.features or table.columns
    left = [name for name in named if name not in out]
    if not left:
        raise InvalidData("every column is left out; use at least one of them.")
    some = {name: column_values(table.column(name))[:_SEEN] for name in left}
    return {field.name: choices.kinds.get(field.name) or field.kind for field in read_fields(some)}


def _column(
    table: Table, name: str, chosen: dict[str, str], id_column: str | None
) -> dict[str, Any]:
    column = table.columns[name]
    texts = column.texts()
    values = [text for text in texts.tolist() if text not in (None, "")]
    different = set(values[:_MOST_DISTINCT])
    use = "id" if name == id_column else chosen.get(name, "ignore")
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
        if use not in (*USES, *FIELD_USES, "id"):
            known = dict.fromkeys((*USES, *FIELD_USES))
            raise wrong("columns", f"{name}: must be one of {', '.join(known)}")
    return uses


def _choices(
    id_column: str | None, uses: dict[str, str], body: Body, mended: bool = False
) -> Choices:
    """As was said; `mended`: numbers are scaled and gaps filled unless it was said otherwise."""
    from coterie.tables import Choices

    for name, use in uses.items():
        if use not in (*USES, "id"):
            raise wrong("columns", f"{name}: only a field of records can be a {use}")
    said = {
        name: "drop" if use == "ignore" else use
        for name, use in uses.items()
        if use not in ("auto", "id") and name != id_column
    }
    scale, impute = body.flag("scale", mended), body.flag("impute", mended)
    return Choices(id_column=id_column, columns=said, scale=scale, impute=impute)


def _record_choices(id_column: str | None, uses: dict[str, str]) -> RecordChoices:
    """Only what is left out, or of every column that is compared what it holds."""
    from coterie.tables import RecordChoices

    ignored = tuple(n for n, use in uses.items() if use == "ignore" and n != id_column)
    kinds = {
        name: "" if use == "auto" else use
        for name, use in uses.items()
        if use not in ("ignore", "id") and name != id_column
    }
    for name, kind in kinds.items():
        if kind and kind not in FIELD_USES:
            raise wrong("columns", f"{name}: a field of records can be {', '.join(FIELD_USES)}")
    return RecordChoices(
        id_column=id_column, drop=ignored, kinds=kinds if any(kinds.values()) else {}
    )


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
