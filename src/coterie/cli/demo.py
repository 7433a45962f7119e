"""`coterie demo`: a first experience with scikit-learn's wine data, made of the other commands."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit
from coterie.exceptions import NotWritten

if TYPE_CHECKING:
    from coterie.constraints import Constraints

__all__ = ["demo"]

_PAIRS = 80  # far fewer than the 15,753 there are
_NOISE = 0.05  # so that `coterie suspects` has something to find
_HOW = ("--id", "wine", "--drop", "cultivar", "--scale", "-k", "3", "--seed", "0")


class Files(NamedTuple):
    """Where everything is."""

    data: str
    pairs: str
    without: str
    with_pairs: str
    model: str
    report: str

    @classmethod
    def within(cls, folder: Path) -> Files:
        """Their names in this folder."""
        names = ("wine.csv", "pairs.csv", "without.csv", "with.csv", "model", "report.html")
        return cls(*(str(folder / name) for name in names))


@command("demo")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default="coterie-demo",
    show_default=True,
    help="Folder to make it in; must not exist.",
)
def demo(talk: Talk, *, folder: Path) -> Exit | None:
    """Make and cluster a small example; say what to try next.

    The example is scikit-learn's wine data: nothing is fetched.
    """
    from coterie.cli._files import check_target

    if folder.exists():
        raise _Taken(f"{folder} exists; choose another name with --folder.")
    check_target(folder, False, "folder")
    files = Files.within(folder)
    try:
        _make(folder)
        _play(talk, files)
    except _Taken:
        raise
    except _StepEnded as ended:
        shutil.rmtree(folder)
        return ended.code
    except BaseException:  # also a signal right after the folder was made
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return None


class _Taken(NotWritten):
    """The folder is somebody else's."""


class _StepEnded(Exception):
    """A command that the demo runs was ended, and has said why."""

    def __init__(self, code: Exit) -> None:
        super().__init__(code)
        self.code = code


def _make(folder: Path) -> None:
    try:
        folder.mkdir()
    except FileExistsError as error:  # made since we looked
        raise _Taken(f"{folder} exists; choose another name with --folder.") from error


def _play(talk: Talk, files: Files) -> None:
    known, n_wrong = _write_example(files)
    say = (lambda text: None) if talk.as_json or talk.quiet else click.echo
    say(
        f"178 wines of three cultivars, 13 measurements each: {files.data}\n"
        f"{known.n_pairs} pairs of them that are of one cultivar, or not: {files.pairs}\n"
        f"{n_wrong} of the pairs are wrong, as some answers always are.\n\n"
        "First without the pairs:"
    )
    fit = ["fit", files.data, *_HOW]
    _run(talk, say, [*fit, "-o", files.without])
    say("\nThen with them:")
    with_pairs = ["--constraints", files.pairs, "-o", files.with_pairs, "--save", files.model]
    _run(talk, say, [*fit, *with_pairs])
    values = _changes(files, known)
    values["files"] = files._asdict()
    values["next"] = [shlex.join(["coterie", *words]) for words in _next(files)]
    talk.result(values, _in_words(values))


def _write_example(files: Files) -> tuple[Constraints, int]:
    """The wines and the pairs as files; the pairs, and how many are wrong."""
    import numpy as np
    from sklearn.datasets import load_wine

    from coterie.constraints import sample_pairs
    from coterie.metrics import constraint_satisfaction
    from coterie.tables import Table, pair_table, write_table

    wine = load_wine()
    names = [f"w{number}" for number in range(1, len(wine.target) + 1)]
    columns: dict[str, Any] = {"wine": np.array(names, dtype=object)}
    columns |= dict(zip(wine.feature_names, wine.data.T, strict=True))
    columns["cultivar"] = np.array(wine.target_names[wine.target].tolist(), dtype=object)
    write_table(Table.of("wine", columns), Path(files.data))
    known = sample_pairs(wine.target, _PAIRS, noise=_NOISE, random_state=0)
    write_table(pair_table(known, names), Path(files.pairs))
    return known, constraint_satisfaction(wine.target, known).n_broken


def _run(talk: Talk, say: Callable[[str], None], words: list[str]) -> None:
    """Show a command and run it, as the user would."""
    from coterie.cli.main import main

    say(f"  {shlex.join(['coterie', *words])}")
    quiet = ["--quiet"] if talk.as_json or talk.quiet else []
    code = main.main([*words, *quiet], prog_name="coterie", standalone_mode=False)
    if code == Exit.STOPPED_EARLY:  # Ctrl-C, which the fit has taken for itself
        raise KeyboardInterrupt
    if code:
        raise _StepEnded(Exit(code))


def _changes(files: Files, known: Constraints) -> dict[str, Any]:
    """How the two results differ: rows moved, and pairs broken and ARI of each."""
    import numpy as np

    from coterie.metrics import adjusted_rand_score, constraint_satisfaction, match_labels
    from coterie.tables import read_table

    tables = [read_table(Path(path)) for path in (files.without, files.with_pairs)]
    found = [table.columns["cluster"].texts().astype(str) for table in tables]
    true = tables[0].columns["cultivar"].texts().astype(str)
    matched = match_labels(found[0], found[1])
    moved = np.array([matched[label] for label in found[1].tolist()]) != found[0]
    return {
        "n_rows": len(true),
        "n_pairs": known.n_pairs,
        "n_moved": int(moved.sum()),
        "n_broken": [constraint_satisfaction(labels, known).n_broken for labels in found],
        "ari": [float(adjusted_rand_score(true, labels)) for labels in found],
    }


def _next(files: Files) -> list[list[str]]:
    """Commands to try."""
    about = [files.data, files.pairs]
    return [
        ["check", *about, "--id", "wine", "-k", "3"],
        ["suspects", *about, "--model", files.model, "-n", "3"],
        ["compare", *about, "--id", "wine", "--scale", "-k", "3", "--truth", "cultivar"],
        ["report", files.model, *about, "--truth", "cultivar", "-o", files.report],
    ]


def _in_words(values: dict[str, Any]) -> str:
    (broken, broken_then), (ari, ari_then) = values["n_broken"], values["ari"]
    return "\n".join(
        [
            "",
            "What the pairs changed:",
            f"  {values['n_moved']} of {values['n_rows']} wines are in another cluster",
            f"  broken pairs {broken} -> {broken_then} of {values['n_pairs']}",
            f"  likeness to the cultivars (ARI) {ari:.3f} -> {ari_then:.3f}",
            "",
            "Try next:",
            *(f"  {line}" for line in values["next"]),
        ]
    )
