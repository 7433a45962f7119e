"""A table looked at before it is opened: what its columns hold, and how each would be used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.studio.body import Body, wrong
from coterie.studio.folder import find
from coterie.studio.opening import Opening

if TYPE_CHECKING:
    from coterie.tables import Choices, RecordChoices, Table

__all__ = ["USES", "from_body", "preview"]

#: How a column can be used; "auto" leaves it to the recipe.
USES = ("auto", "number", "category", "date", "text", "words", "vector", "ignore")
#: How a field of records can be compared; a vector is no field of a table.
FIELD_USES = ("text", "date", "number", "category", "set", "ignore")
_SEEN = 2000  # rows whose values say what a field holds
_ID_NAME = re.compile(r"(?i:(.*[ _-])?(id|key))|.*[a-z](Id|ID)")  # Order ID, order_id, orderId
_USED_AS = {"topics": "text", "text": "words", "categories": "category"}  # kinds of a recipe
_EXAMPLES = 5
_MOST_DISTINCT = 10_000  # values that are counted


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
