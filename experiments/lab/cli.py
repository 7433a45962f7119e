"""The command: run studies, write the page, compare profiles."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import click
from rich.console import Console

from lab.page import WORDS, results_of, write_page
from lab.runner import run_study
from lab.study import PROFILES, Cell, Study, find_studies

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT.parent / "docs" / "reproduction.md"
QUICK = ROOT / "quick"  # ignored by git: the page of the last quick run
console = Console()


@click.group(help=__doc__)
def main() -> None:
    """Entry point of `python experiments`."""


def _chosen(names: tuple[str, ...]) -> list[Study]:
    studies = {study.name: study for study in find_studies(ROOT)}
    unknown = [name for name in names if name not in studies]
    if unknown:
        raise click.ClickException(f"no study {unknown[0]!r}; there are {', '.join(studies)}")
    return [studies[name] for name in names or studies]


def _filter(only: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in only]
    if not all(equals for _, equals, _ in pairs):
        raise click.ClickException("--only takes column=value, for instance --only set=iris")
    return {column: value for column, _, value in pairs}


@main.command()
@click.argument("studies", nargs=-1)
@click.option("--profile", type=click.Choice(PROFILES), default="quick", show_default=True)
@click.option("--jobs", default=2, show_default=True, help="Processes, of one thread each.")
@click.option("--minutes", type=float, help="Begin no cell after this time, in each study.")
@click.option("--only", multiple=True, help="Only cells with column=value (part, draw or an axis).")
def run(
    studies: tuple[str, ...], profile: str, jobs: int, minutes: float | None, only: tuple[str, ...]
) -> None:
    """Run the cells that are not finished yet; of all studies if none is named."""
    wanted = _filter(only)

    def choose(cell: Cell) -> bool:
        identity = {column: str(value) for column, value in cell.identity().items()}
        return all(identity.get(column) == value for column, value in wanted.items())

    failed = 0
    for study in _chosen(studies):
        begin = time.monotonic()
        done = run_study(study, profile, jobs=jobs, minutes=minutes, choose=choose)
        took = time.monotonic() - begin
        console.print(f"{study.name}: {done.finished} cells in {took:.0f} s, {done.left} left")
        for message in done.missing:
            console.print(f"  not run: {message}")
        for message in done.failed:
            console.print(f"  failed: {message}", markup=False)
        failed += len(done.failed)
    if failed:
        raise click.ClickException(f"{failed} cells failed; the others are kept")


@main.command()
def report() -> None:
    """Write docs/reproduction.md (full results where there are any), and quick/ from quick ones."""
    studies = find_studies(ROOT)
    write_page(studies, PAGE, PAGE.parent / "images" / "reproduction", PROFILES[::-1])
    write_page(studies, QUICK / "reproduction.md", QUICK / "images", ("quick",))
    for study in studies:
        shown, quick = results_of(study), results_of(study, ("quick",))
        words = {verdict.claim["id"]: verdict.word for verdict in shown.verdicts()}
        counts = Counter(words.values())
        text = ", ".join(f"{counts[word]} {word}" for word in WORDS)
        console.print(f"{study.name} ({shown.profile}): {text}")
        if quick.profile != shown.profile and len(quick.frame):
            _compare(words, {v.claim["id"]: v.word for v in quick.verdicts()})


def _compare(shown: dict[str, str], quick: dict[str, str]) -> None:
    """Say where this machine's quick run came to another verdict than the page."""
    others = {name: word for name, word in quick.items() if word != shown[name]}
    console.print(f"  quick run: the same verdict on {len(quick) - len(others)} of {len(quick)}")
    for name, word in others.items():
        console.print(f"    {name}: {word} (page: {shown[name]})")
