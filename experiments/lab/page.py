"""docs/reproduction.md from the results, and a page for each study: verdicts, figures, tables.

The text depends on the results only. Full results, which are committed, are shown where there are
any; quick ones otherwise.

A table in `config.toml`: title, where, rows and columns (names of columns), metric; numbers of the
paper, if it prints any, stand in `published.csv` under the results' own column names.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lab.claims import FAILS, HOLDS, NOT_RUN, UNCLEAR, UNTESTABLE, Verdict, judge
from lab.figures import draw, values_of
from lab.selection import Mean, per_draw, select
from lab.store import Store
from lab.study import Study

MARKS = {HOLDS: "yes", FAILS: "**no**", UNCLEAR: "not distinguishable", None: "undecided"}
PARENT = "reproduction.md"
WORDS = (HOLDS, FAILS, UNCLEAR, UNTESTABLE)


class Results(NamedTuple):
    """A study's rows and where they come from."""

    study: Study
    profile: str
    frame: pd.DataFrame
    log: list[dict[str, Any]]

    def verdicts(self) -> list[Verdict]:
        """Every claim, judged."""
        return [judge(claim, self.frame) for claim in self.study.claims]


def results_of(study: Study, profiles: Iterable[str] = ("full", "quick")) -> Results:
    """The first profile that has any rows."""
    for profile in profiles:
        store = Store(study, profile)
        frame = store.frame()
        if len(frame):
            return Results(study, profile, frame, store.provenance())
    return Results(study, "none", pd.DataFrame(columns=study.columns), [])


def write_page(studies: list[Study], page: Path, images: Path, profiles: Iterable[str]) -> None:
    """Write the page of all studies, beside it one for each, and the figures that they show."""
    found = [results_of(study, tuple(profiles)) for study in studies]
    page.parent.mkdir(parents=True, exist_ok=True)
    _write(page, _head(found, page))
    for results in found:
        own = page_of(results.study, page)
        _write(own, _section(results, own, images))


def page_of(study: Study, page: Path) -> Path:
    """The page of a study, beside that of all."""
    return page.with_name(f"{page.stem}-{study.name.replace('_', '-')}.md")


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _head(found: list[Results], page: Path) -> Iterator[str]:
    yield "# The papers, reproduced"
    yield ""
    yield "Written by `make reproduce` from the results in `experiments/`; do not edit. Claims"
    yield "come from the papers' texts, not from results; where results had been seen before,"
    yield "the study's introduction should say so. They are judged by rule, by a two-sided test"
    yield "over draws at p < .05, paired where two methods are compared: *holds* (significantly"
    yield "inside what is claimed), *does not hold* (significantly outside), *not distinguishable*"
    yield "(neither, whichever side the mean is on), *cannot be tested*. Numbers are means over"
    yield "draws ± one standard error. How to run and read the experiments:"
    yield "`experiments/README.md`."
    yield ""
    yield "| study | results | holds | does not hold | not distinguishable | cannot be tested |"
    yield "|---|---|---|---|---|---|"
    for results in found:
        counts = Counter(verdict.word for verdict in results.verdicts())
        cells = " | ".join(str(counts[word]) for word in WORDS)
        link = f"[{results.study.config['title']}]({page_of(results.study, page).name})"
        yield f"| {link} | {results.profile} | {cells} |"
    yield ""
    yield from ("```{toctree}", ":hidden:", "")
    yield from (page_of(results.study, page).stem for results in found)
    yield "```"


def anchor(heading: str) -> str:
    """What a link to a heading of a page ends in."""
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c == "-")


def _section(results: Results, page: Path, images: Path) -> Iterator[str]:
    study = results.study
    verdicts = results.verdicts()
    yield f"# {study.config['title']}"
    yield ""
    if verdicts:
        counts = Counter(verdict.word for verdict in verdicts)
        told = ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word])
        yield f"Of {len(verdicts)} claims: {told}. How they are judged: [all studies]({PARENT})."
        yield ""
    yield from _paper(study)
    yield from _claims(verdicts)
    yield "## What was run"
    yield ""
    yield study.config["intro"].strip()
    yield ""
    yield origin(results)
    yield ""
    for figure in study.config.get("figure", []):
        path = images / f"{study.name}-{figure['name']}.png"
        if draw(figure, results.frame, path):
            yield f"![{figure['caption']}]({os.path.relpath(path, page.parent)})"
            yield ""
            yield f"*{figure['caption']}*"
            yield ""
    published = _published(study)
    for table in study.config.get("table", []):
        yield from _table(table, results.frame, published)


def _paper(study: Study) -> Iterator[str]:
    """Who wrote it, with links to the citation and to where its formulas are in the code."""
    if "paper" not in study.config:
        return
    name = "{authors} {year}".format(**study.config["paper"])
    yield (
        f"The paper: [{name}](references.md#{anchor(name)}); its formulas in the code: "
        f"[From the papers to the code](papers-to-code.md#{anchor(name)})."
    )
    yield ""


def origin(results: Results) -> str:
    """Which run this is, on which machine, how complete."""
    if not results.log:
        return "Not run yet."
    wanted = len(results.study.cells(results.profile))
    days = sorted({line["date"] for line in results.log})
    commits = list(dict.fromkeys(line["commit"] for line in results.log))
    machines = " / ".join(sorted({line["machine"] for line in results.log}))
    seconds = sum(float(line["seconds"]) for line in results.log)
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    versions = ", ".join(sorted({line["version"] for line in results.log}))
    share = "all" if len(results.log) == wanted else f"{len(results.log)} of"
    return (
        f"Profile `{results.profile}`: {share} {wanted} cells, {when}, coterie {versions} at "
        f"{', '.join(commits)}, {machines}, {seconds / 60:.0f} minutes in all."
        f"{_by_part(results.log) if len(commits) > 1 else ''}"
    )


def _by_part(log: list[dict[str, Any]]) -> str:
    """How many cells of each part were run at which commits."""
    counts: dict[str, Counter[str]] = {}
    for line in log:
        part = line["cell"].partition("|")[0]
        counts.setdefault(part, Counter())[line["commit"]] += 1
    told = [
        f"`{part}` " + ", ".join(f"{many} at {commit}" for commit, many in by.items())
        for part, by in counts.items()
    ]
    return f" Cells by part and commit: {'; '.join(told)}."


def _published(study: Study) -> pd.DataFrame | None:
    path = study.folder / "published.csv"
    if not path.exists():
        return None
    published = pd.read_csv(path)
    published.attrs["keys"] = [c for c in published if c not in study.config["scores"]]
    return published


def _table(
    table: dict[str, Any], frame: pd.DataFrame, published: pd.DataFrame | None
) -> Iterator[str]:
    where, down, across = table.get("where", {}), table["rows"], table["columns"]
    rows = select(frame, where)
    if not len(rows):
        return
    columns = values_of(rows, across, where)
    note = "" if published is None else "; in brackets the paper's"
    yield f"**{table['title']}** ({table['metric']}{note})"
    yield ""
    yield f"| {down} | " + " | ".join(str(column) for column in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name in values_of(rows, down, where):
        cells = [_entry(rows, published, {down: name, across: column}, table) for column in columns]
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield ""


def _entry(
    rows: pd.DataFrame, published: pd.DataFrame | None, at: dict[str, Any], table: dict[str, Any]
) -> str:
    values = per_draw(select(rows, at), table["metric"])
    text = str(Mean.of(values)) if len(values) else "–"
    if published is not None and table["metric"] in published:
        known = {k: v for k, v in {**table.get("where", {}), **at}.items() if k in published}
        theirs = select(_only_under(published, known), known)[table["metric"]].dropna()
        if len(theirs):
            text += f" ({theirs.mean():g})"
    return text


def _only_under(published: pd.DataFrame, known: dict[str, Any]) -> pd.DataFrame:
    """Numbers the paper gives for these columns; those for further ones are another table's."""
    others = [column for column in published.attrs["keys"] if column not in known]
    return published[published[others].isna().all(axis=1)]


def _claims(verdicts: list[Verdict]) -> Iterator[str]:
    if not verdicts:
        return
    yield "## What the paper says, and what came out here"
    yield ""
    for verdict in verdicts:
        claim = verdict.claim
        yield f"- **{claim['id']}** ({claim['source']}) {claim['says']} → **{verdict.word}**."
        if "untestable" in claim:
            yield f"  {claim['untestable']}"
        yield from _findings(verdict)
        if "why" in claim and verdict.word != HOLDS:
            yield f"  - *Why:* {' '.join(claim['why'].split())}"
    yield ""


def _findings(verdict: Verdict) -> Iterator[str]:
    findings = verdict.findings
    if findings and all(finding.numbers == NOT_RUN[1] for finding in findings):
        yield "  Not run under this profile, or the data is not here."
        return
    if len(findings) == 1:
        yield f"  {findings[0].numbers}."
        return
    for finding in findings:
        name = ", ".join(str(value) for value in finding.group.values())
        yield f"  - {name}: {MARKS[finding.word]}; {finding.numbers}"
