"""The defaults table as markdown, for docs/which-estimator.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from advice import best_of
from bars import BELOW, FLOOR, NOT_TOLD_K, WORSE, known, means
from sets import MADE, REAL

from lab.page import Results, origin, results_of
from lab.study import load_study

HERE = Path(__file__).resolve().parent
INTRO = """\
Every estimator with its defaults on {sets} sets of at most 600 rows, {real} of them real
(`experiments/defaults`; draws of pairs: {draws}), with true pairs only: none, one for
every ten rows (n/10), as many as rows (n). All are told the number of clusters but TVClust. Mean
ARI, and the two things that should never be: what true pairs cost on the set where they cost
most, and how far the estimator is below K-Means where it is farthest. {origin}
"""
NAMES = {0.0: "no pairs", 0.1: "n/10", 1.0: "n"}


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown, with an end of line."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


def section() -> str:
    """The whole section; a line that says so if nothing was run."""
    results = results_of(load_study(HERE))
    if not len(results.frame):
        return "Not run yet: `python experiments run defaults`.\n"
    return "\n".join(_parts(results))


def _parts(results: Results) -> Iterator[str]:
    frame = results.frame
    draws = frame.groupby("set").draw.nunique()
    many = f"{draws.min()}" if draws.min() == draws.max() else f"{draws.min()} to {draws.max()}"
    yield INTRO.format(sets=len(draws), real=len(REAL), draws=many, origin=origin(results))
    yield _by_method(frame)
    yield "The best of each set, with those within 0.02 of it:\n"
    yield _by_set(frame)
    yield (
        "All of it: ARI in hundredths without pairs, with n/10, with n. What costs more than "
        f"{WORSE:g} or is more\nthan {BELOW:g} below K-Means is marked (`*`).\n"
    )
    yield _everything(frame)
    yield "### Where defaults fall short\n"
    yield _known()


def _by_method(frame: pd.DataFrame) -> str:
    ari = means(frame)
    real = ari.index.get_level_values("set").isin(REAL)
    shares = list(dict.fromkeys(ari.index.get_level_values("share")))
    lost = ari.groupby("set").transform(lambda column: column.iloc[0] - column)
    below = ari.rsub(ari[FLOOR], axis=0)
    seconds = frame.groupby("method").seconds.median()
    rows = []
    for method in ari.mean().sort_values(ascending=False).index:
        cells = [
            f"{ari.loc[which & (ari.index.get_level_values('share') == share), method].mean():.2f}"
            for which in (real, ~real)
            for share in shares
        ]
        worst = [f"{max(lost[method].max(), 0.0):.2f}", f"{max(below[method].max(), 0.0):.2f}"]
        if method in NOT_TOLD_K:
            worst[1] += " (finds K)"
        rows.append([str(method), *cells, *worst, f"{seconds[method]:.2g}"])
    kinds = [f"{kind}, {NAMES[share]}" for kind in ("real", "made") for share in shares]
    head = ["estimator", *kinds, "pairs cost at worst", "below K-Means at worst", "CPU s"]
    return table(head, rows)


def _by_set(frame: pd.DataFrame) -> str:
    ours = frame[frame.method != FLOOR]
    floor = frame[frame.method == FLOOR].groupby("set").ari.mean()
    shares = list(dict.fromkeys(frame.share))
    rows = []
    for name in _sets_of(frame):
        some = ours[ours.set == name]
        cells = [best_of(some[some.share == share]) for share in shares]
        kind = "real" if name in REAL else "made"
        rows.append([f"{name} ({kind})", f"{floor[name]:.2f}", *cells])
    return table(["set", "K-Means", *(NAMES[share] for share in shares)], rows)


def _sets_of(frame: pd.DataFrame) -> list[str]:
    """The sets there are results of, real ones first; cells that ran side by side end anyhow."""
    there = set(frame.set)
    return [name for name in (*REAL, *MADE) if name in there]


def _everything(frame: pd.DataFrame) -> str:
    ari = means(frame)
    order = ari.mean().sort_values(ascending=False).index
    missed = {(miss.method, miss.set, miss.share) for miss in known()}
    rows = []
    for name in _sets_of(frame):
        cells = []
        for method in order:
            values = ari.loc[name][method]
            shown = (
                f"{round(100 * value)}" + "*" * ((method, name, share) in missed)
                for share, value in values.items()
            )
            cells.append(" ".join(shown))
        rows.append([name, *cells])
    return table(["set", *map(str, order)], rows)


def _known() -> str:
    found: dict[tuple[str, str, str], list[str]] = {}
    for miss, cause in known().items():
        place = f"{miss.set} ({NAMES[miss.share]})"
        found.setdefault((miss.method, miss.bar, cause), []).append(place)
    lines = [
        f"- **{method}**, {bar}: {', '.join(places)}. {' '.join(cause.split())}"
        for (method, bar, cause), places in found.items()
    ]
    return "\n".join([*(lines or ["Nowhere."]), ""])
