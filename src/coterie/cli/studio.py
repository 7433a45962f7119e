"""`coterie studio`: answer, look and mend in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from coterie.cli._asking import asking_options, budget_options, check_records, seed_option
from coterie.cli._options import feature_options, fields_option, file_type, pairs_option
from coterie.cli._records import exclusive_option, record_choices, records_option
from coterie.cli.command import Talk, command
from coterie.exceptions import InvalidParameter, MissingDependency

__all__ = ["studio"]


@command("studio", conversation=True)
@click.argument("data", type=file_type, required=False)
@pairs_option
@asking_options
@click.option(
    "--strategy",
    metavar="STRATEGY",
    help="How questions are chosen; names as for coterie ask.  [default: information; with -k "
    "explore-consolidate]",
)
@budget_options
@seed_option
@feature_options
@fields_option
@records_option
@exclusive_option
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The only folder whose files the page can open.  [default: that of DATA, else this one]",
)
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port to listen on; 0 is any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option(
    "--host",
    metavar="HOST",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any other than this machine's own needs a password or TLS.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --host: a name by which others call this machine; may be given several times.",
)
@click.option(
    "--password-file",
    type=file_type,
    help="File whose first line is a password, asked of those who do not have the address.",
)
@click.option("--certificate", type=file_type, help="Certificate for TLS, a .pem file.")
@click.option("--key", type=file_type, help="Key of the certificate.")
def studio(
    talk: Talk,
    *,
    data: Path | None,
    pairs: Path | None,
    answers: Path | None,
    folder: Path | None,
    port: int,
    no_browser: bool,
    host: str,
    names: tuple[str, ...],
    password_file: Path | None,
    certificate: Path | None,
    key: Path | None,
    **given: Any,
) -> None:
    """Cluster records in a browser: answer, look and mend.

    DATA is a table as for `coterie ask`, whose answers it goes on with; without it the page asks
    for one. With DATA alone the page shows how its columns would be used, before the first
    question; the next time it is opened as it was. The first line printed is the address to open;
    it holds a secret token. Ctrl-C ends the studio, and every answer is saved.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            "coterie studio needs starlette and uvicorn: pip install 'coterie[studio]'."
        ) from error
    from coterie.studio.serving import Address, serve

    password = None if password_file is None else _first_line(password_file)
    address = Address(host, port, password, certificate, key, names)
    address.check()
    place = folder or (Path() if data is None else data.resolve().parent)
    opening, suggested = None, None
    if data is None:
        _refuse_without_data(pairs, answers, given)
    elif not _said(pairs, answers, given) and data.resolve().parent == place.resolve():
        opening, suggested = _as_before(data.resolve())
    else:
        opening = _opening(data, pairs, answers, given)
    serve(
        place,
        opening,
        address,
        suggest=suggested,
        browser=not no_browser,
        say=_say,
    )


def _say(link: str) -> None:
    from coterie.studio.pages import has_bundle

    click.echo(link)
    if not has_bundle():
        click.echo("The page is not built: run `make studio` in the clone, then reload.", err=True)
    click.echo("Ctrl-C ends it; every answer is saved.", err=True)


def _first_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].strip():
        raise InvalidParameter(f"{path} holds no password in its first line.")
    return lines[0].strip()


def _opening(data: Path, pairs: Path | None, answers: Path | None, given: dict[str, Any]) -> Any:
    """What was said about the table; `given` are the options of `coterie ask`."""
    from coterie.studio.opening import Opening

    fields: tuple[str, ...] = given.pop("fields")
    records, exclusive = given.pop("records"), given.pop("exclusive")
    clusters, strategy = given.pop("clusters"), given.pop("strategy")
    rest = {name: given.pop(name) for name in ("budget", "error_rate", "seed")}
    check_records(records, clusters, strategy, exclusive)
    if records:
        chosen = record_choices([f for f in fields if ":" in f], exclusive, given)._asdict()
        fields = tuple(name.rpartition(":")[0] or name for name in fields)
    else:
        chosen = dict(given)
    path = data.resolve()
    return Opening(
        data=path,
        answers=answers or path.with_name(path.name + ".answers.db"),
        pairs=pairs,
        choices=chosen,
        records=records,
        n_clusters=clusters,
        strategy=strategy,
        fields=fields,
        **rest,
    )


def _as_before(data: Path) -> tuple[Any, str | None]:
    """The session of the last time, or the name of the table for the page to ask about."""
    from coterie.studio.opening import Opening

    answers = data.with_name(data.name + ".answers.db")
    opening = Opening.recall(data)
    if opening is None and answers.is_file():  # of `coterie ask` with no options
        opening = Opening(data, answers)
    return opening, None if opening is not None else data.name


def _said(pairs: Path | None, answers: Path | None, given: dict[str, Any]) -> list[str]:
    """Options that are about a table, of those that were given."""
    said = {"constraints": pairs, "answers": answers, **given}
    return [name for name, value in said.items() if value not in (None, (), False, {}, [])]


def _refuse_without_data(pairs: Path | None, answers: Path | None, given: dict[str, Any]) -> None:
    named = _said(pairs, answers, given)
    if named:
        option = {"id_column": "id", "clusters": "clusters"}.get(named[0], named[0])
        raise InvalidParameter(f"--{option.replace('_', '-')} is about a table: give DATA too.")
