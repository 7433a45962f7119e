"""`coterie ask`: two records side by side, one key for an answer. Plain text, works over ssh."""

from __future__ import annotations

import getpass
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from coterie.active import STRATEGIES, ActiveSession, AnswerStore, Query
from coterie.active.query import KNOWN
from coterie.cli._asking import asking_options, budget_options, check_records, seed_option
from coterie.cli._exchange import exchange_files, exchange_options, file_choices, with_answers
from coterie.cli._keys import key_reader
from coterie.cli._options import (
    Name,
    data_argument,
    feature_options,
    fields_option,
    pairs_option,
)
from coterie.cli._records import exclusive_option, record_choices, records_option
from coterie.cli.command import Talk, command
from coterie.cli.watch import announce
from coterie.exceptions import (
    AnswerNotSaved,
    ContradictoryAnswer,
    CoterieError,
)
from coterie.tables import (
    Choices,
    Records,
    Table,
    ask_about_records,
    ask_about_rows,
    open_session,
    pair_table,
    side_by_side,
    write_table,
)
from coterie.words import counted, on_screen

if TYPE_CHECKING:
    from coterie.active import Answer

__all__ = ["ask"]

KEYS = {"y": "same", "n": "different", "u": "unknown", "l": "later"}
HELP = "y same · n different · u nobody can tell · l later · z undo · r redo · ? why · q quit"
_LABEL_EVERY = 5  # answers between two looks at how stable the clustering is
_NARROWEST = 40


@command("ask", conversation=True)
@data_argument
@pairs_option
@asking_options
@click.option(
    "--strategy",
    type=Name("strategy", STRATEGIES),
    help=f"How questions are chosen: {', '.join(STRATEGIES)}.  [default: information; with -k "
    "explore-consolidate]",
)
@budget_options
@exchange_options
@click.option("--annotator", default=None, help="Who answers.  [default: the user's name]")
@seed_option
@feature_options
@fields_option
@records_option
@exclusive_option
def ask(
    talk: Talk,
    *,
    data: Path,
    pairs: Path | None,
    answers: Path | None,
    clusters: int | None,
    strategy: str | None,
    budget: int | None,
    error_rate: float | None,
    annotator: str | None,
    seed: int | None,
    fields: tuple[str, ...],
    records: bool,
    exclusive: str | None,
    **choices: Any,
) -> None:
    """Cluster records by asking which pairs belong together.

    DATA is a table (.csv .tsv .jsonl .parquet ...), used as `coterie fit` uses it. Every answer is
    saved before the next question; quit and come back at any time.
    """
    by_file = file_choices(choices)
    log = answers or data.with_name(data.name + ".answers.db")
    announce(talk)
    check_records(records, clusters, strategy, exclusive)
    if records:
        chosen = record_choices([f for f in fields if ":" in f], exclusive, choices)
        names = [name.rpartition(":")[0] or name for name in fields]
        asking = ask_about_records(data, pairs, chosen, error_rate=error_rate, fields=names)
    else:
        asking = ask_about_rows(
            data,
            pairs,
            Choices(**choices),
            strategy=strategy,
            n_clusters=clusters,
            error_rate=error_rate,
            fields=fields,
        )
    for note in asking.notes:
        talk.note(note)
    shown = Records.of(asking.table, asking.ids, asking.fields)
    by_file = with_answers(by_file, shown)
    with AnswerStore(log) as store:
        session = open_session(asking, store, data, budget=budget, random_state=seed)
        if any(session.row_changes):
            talk.note(f"rows changed since the last time: {session.row_changes}")
        if session.set_aside:
            gone = counted(len(session.set_aside), "answer")
            talk.note(f"{gone} about rows that are gone; kept aside until they are back")
        if not exchange_files(session, shown, annotator or _user(), by_file):
            with key_reader() as next_key:
                Conversation(session, shown, annotator or _user(), next_key).run()
        _write_results(session, shown, store, data)


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


class Conversation:
    """Shows questions and takes keys until there are no more or the person quits."""

    def __init__(
        self,
        session: ActiveSession,
        records: Records,
        annotator: str | None,
        next_key: Callable[[], str],
    ) -> None:
        self.session = session
        self._next_key = next_key
        self.records = records
        self.annotator = annotator

    def run(self) -> None:
        """Ask until done; "q", end of input and Ctrl-C all stop cleanly."""
        click.echo(HELP)
        told = told_answers(self.session)
        n_known = len(self.session.history) - len(told)
        if n_known:
            click.echo(f"{counted(n_known, 'pair is', 'pairs are')} known already.")
        if told:
            click.echo(f"Going on after {counted(len(told), 'answer')}.")
        try:
            finished = self._ask_all()
        except KeyboardInterrupt:  # may come at any moment, not only while a key is awaited
            click.echo()
            finished = False
        if finished:
            click.echo(f"Done: {self.session.done}.")
        else:
            click.echo("Stopped; all answers are saved. Run the same command to go on.")

    def _ask_all(self) -> bool:
        """Ask until there is nothing more to ask; False if the person stops before."""
        while (query := self.session.ask()) is not None:
            self._show(query)
            if not self._take(query):
                return False
        return True

    # -- showing ---------------------------------------------------------------------------
    def _show(self, query: Query) -> None:
        click.echo("\n" + self._progress())
        click.echo(side_by_side(self.records, *query.rows, width=_width()))

    def _progress(self) -> str:
        told = told_answers(self.session)
        counts = ", ".join(
            f"{sum(a.answer == word for a in told)} {word}" for word in KEYS.values()
        )
        of = f" of at most {self.session.budget}" if self.session.budget is not None else ""
        line = f"Question {self.session.n_asked + 1}{of} — so far {counts}"
        if told and len(told) % _LABEL_EVERY == 0:
            self.session.labels()
        if self.session.stability is not None:
            line += f" — clustering {self.session.stability:.0%} as before"
        if told and len(told) % _LABEL_EVERY == 0 and self.session.expected_gain is not None:
            line += f" — {self.session.expected_gain}"
        return line

    # -- answering -------------------------------------------------------------------------
    def _take(self, query: Query) -> bool:
        """Handle keys until the question changes; False to stop."""
        while True:
            click.echo("Same? [y/n/u/l/z/r/?/q] ", nl=False)
            key = self._key()
            if key in ("", "q", "\x04"):
                return False
            if key in KEYS:
                return self._tell(query, KEYS[key])
            if key in "zr" and self._step_back_or_forth(key):
                return True
            if key == "?":
                click.echo(textwrap.fill(on_screen(query.why), _width()))
            elif key not in "zr":
                click.echo(HELP)

    def _key(self) -> str:
        """The next key, shown; "" at the end of input."""
        try:
            key = self._next_key().lower()
            while key in ("\n", "\r"):
                key = self._next_key().lower()
        except EOFError:
            key = ""
        click.echo(key if key.isprintable() else "")
        return key

    def _step_back_or_forth(self, key: str) -> bool:
        try:
            (self.session.undo if key == "z" else self.session.redo)()
        except CoterieError as error:
            click.echo(str(error))
            return False
        click.echo("Taken back." if key == "z" else "Restored.")
        return True

    def _tell(self, query: Query, answer: str, despite_clash: bool = False) -> bool:
        try:
            self.session.tell(query, answer, annotator=self.annotator, despite_clash=despite_clash)
        except ContradictoryAnswer as error:
            return self._resolve(query, answer, error)
        except AnswerNotSaved as error:
            click.echo(f"Not saved! {error}")
        return True

    def _resolve(self, query: Query, answer: str, error: ContradictoryAnswer) -> bool:
        """Earlier answers say the opposite: the person decides."""
        click.echo("That contradicts what you said before:")
        ids = self.records.ids
        for place, earlier in enumerate(error.clash, start=1):
            i, j = earlier.rows
            click.echo(on_screen(f"  {place}. {ids[i]} and {ids[j]}: {earlier.answer}"))
        click.echo("Number: take that one back · k keep both · any other key: forget this answer ")
        key = self._key()
        if key == "k":
            return self._tell(query, answer, despite_clash=True)
        if key.isdigit() and 1 <= int(key) <= len(error.clash):
            self.session.retract(error.clash[int(key) - 1].number)
            return self._tell(query, answer)
        return True


def told_answers(session: ActiveSession) -> list[Answer]:
    """The answers in force that a person gave, without what was known at the start."""
    return [answer for answer in session.history if answer.phase != KNOWN]


def _width() -> int:
    return max(shutil.get_terminal_size().columns, _NARROWEST)


def _write_results(
    session: ActiveSession, records: Records, store: AnswerStore, data: Path
) -> None:
    """Labels and constraints beside the data; says where."""
    if not told_answers(session):
        click.echo("No answers, nothing written.")
        return
    labels = np.asarray(session.labels())
    label_path = data.with_name(data.name + ".labels.csv")
    ids = np.array(records.ids, dtype=object)
    write_table(Table.of("labels", {"id": ids, "cluster": labels}), label_path)
    pair_path = data.with_name(data.name + ".constraints.csv")
    constraints = session.constraints
    write_table(pair_table(constraints, records.ids), pair_path, raw=True)  # ids stay as they are
    found = len(set(labels.tolist()))
    click.echo(f"Answers     {store.path}")
    click.echo(f"Labels      {label_path} ({counted(found, 'cluster')})")
    click.echo(f"Constraints {pair_path} ({counted(constraints.n_pairs, 'pair')})")
