"""`coterie ask`: two records side by side, one key for an answer. Plain text, works over ssh."""

from __future__ import annotations

import getpass
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from coterie.active import (
    ActiveSession,
    AnswerStore,
    ExploreConsolidate,
    InformationGain,
    Query,
)
from coterie.cli._command import Talk, command
from coterie.cli._keys import key_reader
from coterie.cli._options import data_argument, id_option
from coterie.cli._output import write_table
from coterie.cli._pairs import name_pairs
from coterie.cli._records import Records, read_records, to_numbers
from coterie.cli._table import Table
from coterie.cli._words import counted
from coterie.exceptions import AnswerNotSaved, ContradictoryAnswer, CoterieError

__all__ = ["ask"]

KEYS = {"y": "same", "n": "different", "u": "unknown", "l": "later"}
HELP = "y same · n different · u nobody can tell · l later · z undo · r redo · ? why · q quit"
_LABEL_EVERY = 5  # answers between two looks at how stable the clustering is
_NARROWEST = 40


@command("ask", conversation=True)
@data_argument
@id_option
@click.option(
    "--answers",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Log of the answers; made if missing, continued if not.  [default: DATA.answers.db]",
)
@click.option(
    "-k",
    "--clusters",
    metavar="K",
    type=click.IntRange(min=1),
    help="Number of clusters, if known.",
)
@click.option("--budget", metavar="N", type=click.IntRange(min=0), help="Most questions to answer.")
@click.option(
    "--error-rate",
    type=click.FloatRange(0, 0.5, max_open=True),
    metavar="RATE",
    help="How often answers are wrong, if known; 0 trusts every answer (used when -k is not "
    "given).  [default: estimated]",
)
@click.option("--annotator", default=None, help="Who answers.  [default: the user's name]")
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), help="For the same questions each time."
)
def ask(
    talk: Talk,
    *,
    data: Path,
    id_column: str | None,
    answers: Path | None,
    clusters: int | None,
    budget: int | None,
    error_rate: float | None,
    annotator: str | None,
    seed: int | None,
) -> None:
    """Cluster records by asking which pairs belong together.

    DATA is a table (.csv .tsv .jsonl .parquet ...). Every answer is saved before the next
    question; quit and come back at any time.
    """
    log = answers or data.with_name(data.name + ".answers.db")
    records = read_records(data, id_column)
    with AnswerStore(log) as store:
        session = _start(to_numbers(records), clusters, error_rate, budget, seed, store)
        with key_reader() as next_key:
            Conversation(session, records, annotator or _user(), next_key).run()
        _write_results(session, records, store, data)


def _start(
    X: Any,
    clusters: int | None,
    error_rate: float | None,
    budget: int | None,
    seed: int | None,
    store: AnswerStore,
) -> ActiveSession:
    """With K known the papers' two phases, otherwise the strategy that needs no K."""
    options: dict[str, Any] = {"budget": budget, "random_state": seed, "store": store}
    if clusters is None:
        strategy = InformationGain("estimate" if error_rate is None else error_rate)
        return ActiveSession(X, strategy=strategy, **options)
    from coterie.cluster import PCKMeans

    estimator = PCKMeans(clusters, random_state=0)
    return ActiveSession(X, strategy=ExploreConsolidate(clusters), estimator=estimator, **options)


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
        if self.session.history:
            click.echo(f"Going on after {len(self.session.history)} answers.")
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
        history = self.session.history
        counts = ", ".join(
            f"{sum(a.answer == word for a in history)} {word}" for word in KEYS.values()
        )
        of = f" of at most {self.session.budget}" if self.session.budget is not None else ""
        line = f"Question {self.session.n_asked + 1}{of} — so far {counts}"
        if history and len(history) % _LABEL_EVERY == 0:
            self.session.labels()
        if self.session.stability is not None:
            line += f" — clustering {self.session.stability:.0%} as before"
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
                click.echo(textwrap.fill(query.why, _width()))
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
            click.echo(f"  {place}. {ids[i]} and {ids[j]}: {earlier.answer}")
        click.echo("Number: take that one back · k keep both · any other key: forget this answer ")
        key = self._key()
        if key == "k":
            return self._tell(query, answer, despite_clash=True)
        if key.isdigit() and 1 <= int(key) <= len(error.clash):
            self.session.retract(error.clash[int(key) - 1].number)
            return self._tell(query, answer)
        return True


def side_by_side(records: Records, i: int, j: int, *, width: int) -> str:
    """Two records in two columns; fields that differ are marked with a star.

    >>> from coterie.cli._records import Records
    >>> two = Records(["name", "town"], ["1", "2"], [["Ann", "Ulm"], ["Anne", "Ulm"]])
    >>> print(side_by_side(two, 0, 1, width=40))
             1               2
    * name | Ann           | Anne
      town | Ulm           | Ulm
    """
    name_width = min(max([len(field) for field in records.fields], default=0), width // 4)
    column = max((width - name_width - 7) // 2 - 1, 8)
    lines = [f"{'':{name_width + 5}}{records.ids[i][:column]:{column}}   {records.ids[j][:column]}"]
    for field, left, right in zip(
        records.fields, records.values[i], records.values[j], strict=True
    ):
        mark = " " if left == right else "*"
        for line, (a, b) in enumerate(_wrapped(left, right, column)):
            head = (
                f"{mark} {field[:name_width]:{name_width}}" if line == 0 else " " * (name_width + 2)
            )
            lines.append(f"{head} | {a:{column}} | {b}".rstrip())
    return "\n".join(lines)


def _wrapped(left: str, right: str, column: int) -> list[tuple[str, str]]:
    """Both texts in lines of at most `column` letters, side by side."""
    parts = [textwrap.wrap(_printable(text), column) or [""] for text in (left, right)]
    height = max(map(len, parts))
    a, b = (lines + [""] * (height - len(lines)) for lines in parts)
    return list(zip(a, b, strict=True))


def _printable(text: str) -> str:
    """Without control characters: a record must not be able to drive the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _width() -> int:
    return max(shutil.get_terminal_size().columns, _NARROWEST)


def _write_results(
    session: ActiveSession, records: Records, store: AnswerStore, data: Path
) -> None:
    """Labels and constraints beside the data; says where."""
    if not session.history:
        click.echo("No answers, nothing written.")
        return
    labels = np.asarray(session.labels())
    label_path = data.with_name(data.name + ".labels.csv")
    ids = np.array(records.ids, dtype=object)
    write_table(Table.of("labels", {"id": ids, "cluster": labels}), label_path)
    pair_path = data.with_name(data.name + ".constraints.csv")
    constraints = session.constraints
    named = name_pairs(constraints, records.ids)
    columns = {
        name: np.array([pair[name] for pair in named], dtype=object) for name in ("a", "b", "kind")
    }
    write_table(Table.of("pairs", columns), pair_path, raw=True)  # ids must stay as they are
    found = len(set(labels.tolist()))
    click.echo(f"Answers     {store.path}")
    click.echo(f"Labels      {label_path} ({counted(found, 'cluster')})")
    click.echo(f"Constraints {pair_path} ({counted(constraints.n_pairs, 'pair')})")
