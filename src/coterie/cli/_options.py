"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from coterie.cli._given import DataFile
from coterie.cli._streaming import FILES
from coterie.cli.methods import METHODS
from coterie.words import nearest

__all__ = [
    "METHOD",
    "CommaList",
    "Kinds",
    "Name",
    "Words",
    "clusters_option",
    "data_argument",
    "feature_options",
    "fields_option",
    "file_type",
    "force_option",
    "id_option",
    "method_options",
    "output_options",
    "pairs_option",
    "raw_option",
    "rows_argument",
    "table_argument",
    "together",
    "vectors_option",
]

Decorator = Callable[[Any], Any]
file_type = DataFile(dir_okay=False)
table_type = DataFile(stdin=True, dir_okay=False)


def parted(value: str) -> tuple[str, ...]:
    """Texts between commas, without spaces around them; quoted, a text may hold commas.

    >>> parted('town, "Street, No."')
    ('town', 'Street, No.')
    """
    row = next(csv.reader([value], skipinitialspace=True), [])
    return tuple(map(str.strip, row)) or ("",)


class CommaList(click.ParamType):
    """Names parted by commas."""

    name = "names"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names without spaces around them."""
        if isinstance(value, tuple):
            return value
        names = parted(value)
        if not all(names):
            self.fail(f"{value!r} has an empty name; write a,b,c.", param, ctx)
        return names


class Words(CommaList):
    """Texts parted by commas; there may be none."""

    name = "words"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The texts without spaces around them."""
        return value if isinstance(value, tuple) else parted(value)


class Kinds(CommaList):
    """Columns with what they are: name:kind,name:kind."""

    name = "kinds"

    def convert(  # type: ignore[override]
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        """The kind of each column."""
        if isinstance(value, dict):
            return value
        kinds = {}
        for given in super().convert(value, param, ctx):
            name, sign, kind = given.rpartition(":")
            if not sign or not name.strip():
                self.fail(f"{given!r} must be NAME:KIND, for instance price:number.", param, ctx)
            kinds[name.strip()] = kind.strip()
        return kinds


class Name(click.ParamType):
    """One of the names that a registry holds at the moment; case, "-" and "_" do not matter.

    Parameters
    ----------
    name : str
        What is named, for the help.
    known : mapping
        Its keys are the names.
    """

    def __init__(self, name: str, known: Mapping[str, Any]) -> None:
        self.name = name
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as the registry has it."""
        found = {_plain(name): name for name in self.known}
        if _plain(value) not in found:
            self.fail(
                f"{value!r} is not known.{nearest(value.lower(), self.known)} Choose from "
                f"{', '.join(self.known)}.",
                param,
                ctx,
            )
        return found[_plain(value)]

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so."""
        return [CompletionItem(name) for name in self.known if name.startswith(incomplete.lower())]


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


METHOD = Name("method", METHODS)


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


data_argument = click.argument("data", type=file_type)
table_argument = click.argument("data", type=table_type)
rows_argument = click.argument(
    "data", type=FILES, nargs=-1, required=True, metavar="DATA... [PAIRS]"
)
vectors_option = click.option(
    "--vectors",
    metavar="FILE.npy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An array with a vector (an embedding) for every row of DATA, clustered by them.",
)
pairs_option = click.option(
    "--constraints", "pairs", metavar="PAIRS", type=file_type, help="Pairs: columns a, b, kind."
)
fields_option = click.option(
    "--fields",
    type=CommaList(),
    default=(),
    help="Columns to show, a,b,c; else the first 12, those clustered by before others.",
)
id_option = click.option(
    "--id",
    "id_column",
    metavar="COLUMN",
    help="Column that names the rows; it is not clustered. Without it rows are numbered from 0.",
)
clusters_option = click.option(
    "-k",
    "--clusters",
    metavar="K",
    type=click.IntRange(min=1),
    help="Number of clusters. Some methods find it themselves.",
)
feature_options = together(
    id_option,
    click.option("--features", type=CommaList(), default=(), help="Columns to cluster by: a,b,c."),
    click.option("--drop", type=CommaList(), default=(), help="Columns to leave out."),
    click.option(
        "--categorical",
        type=CommaList(),
        default=(),
        help="Columns of categories, even if there are many or they look like numbers.",
    ),
    click.option(
        "--text",
        metavar="COLUMNS",
        type=CommaList(),
        default=(),
        help="Columns of text, clustered by their topics (alone, unless --features names others).",
    ),
    click.option(
        "--columns",
        type=Kinds(),
        default=dict,
        metavar="NAME:KIND,...",
        help="What columns are, where it should not be found out: number, category, date, text, "
        "words, vector, id or drop; number/comma, date/dmy and the like say how it is written.",
    ),
    click.option(
        "--missing",
        type=Words(),
        default=None,
        metavar="WORDS",
        help="Texts that mean that there is no value, a,b,c, instead of NA, NaN, null and the "
        "like; '' for empty cells alone.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="CONDITION",
        help='Only rows of which it is true: "year >= 2020", "town != Ulm", "text is not missing"; '
        "may be given several times.",
    ),
    vectors_option,
    click.option("--scale", is_flag=True, help="Bring numbers to mean 0 and deviation 1."),
    click.option(
        "--impute",
        is_flag=True,
        help="Fill missing values: numbers by the mean, categories by the most frequent one.",
    ),
)
method_options = together(
    clusters_option,
    click.option(
        "--method",
        type=METHOD,
        default="mosaic",
        show_default=True,
        help=f"How to cluster: {', '.join(METHODS)}.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the method; may be given several times.",
    ),
    click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(0, 2**32 - 1),
        help="For the same result each time.",
    ),
)
force_option = click.option("--force", is_flag=True, help="Overwrite outputs that exist.")
raw_option = click.option(
    "--raw",
    is_flag=True,
    help="Leave cells that a spreadsheet would run as formulas as they are.",
)
output_options = together(
    click.option(
        "-o",
        "--output",
        metavar="OUT",
        type=click.Path(path_type=Path),
        help="The rows with their cluster: .csv .tsv .jsonl .parquet .feather .npy, or - (CSV).",
    ),
    click.option(
        "--only-labels",
        is_flag=True,
        help="Write the ids (or row numbers) and clusters alone, not the other columns.",
    ),
    force_option,
    raw_option,
)
