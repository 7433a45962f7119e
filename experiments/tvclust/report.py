"""RESULTS.md from the CSV files: our means beside the published ones, pass or fail."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

SCORES = ["f", "ari", "nmi"]
NOISE = [1.0, 0.95, 0.9, 0.8]
#: Table 2: mean over data sets and r, F / ARI / NMI at each p.
TABLE_2 = {
    "K-means": [(0.61, 0.44, 0.53), (0.60, 0.43, 0.52), (0.61, 0.43, 0.53), (0.61, 0.43, 0.52)],
    "DP-means": [(0.58, 0.39, 0.49), (0.59, 0.39, 0.48), (0.59, 0.40, 0.49), (0.58, 0.38, 0.48)],
    "TVClust": [(0.77, 0.69, 0.74), (0.75, 0.66, 0.72), (0.73, 0.63, 0.69), (0.68, 0.56, 0.64)],
    "RDP-means": [(0.93, 0.90, 0.89), (0.92, 0.89, 0.87), (0.87, 0.82, 0.79), (0.75, 0.65, 0.62)],
}
#: Table 1: mean over p and r of each data set.
TABLE_1 = {
    "TVClust": {
        "iris": (0.91, 0.85, 0.90),
        "wine": (0.56, 0.45, 0.53),
        "ecoli": (0.85, 0.79, 0.76),
        "glass": (0.42, 0.22, 0.42),
        "balance_scale": (0.94, 0.92, 0.91),
    },
    "RDP-means": {
        "iris": (0.86, 0.80, 0.80),
        "wine": (0.81, 0.73, 0.72),
        "ecoli": (0.90, 0.86, 0.82),
        "glass": (0.82, 0.76, 0.73),
        "balance_scale": (0.94, 0.92, 0.88),
    },
}
#: How far below the published mean each method may lie at each p.
SLACK = {"TVClust": 0.0, "RDP-means": 0.03}


def _three(values: object) -> str:
    return " / ".join(f"{value:.2f}" for value in values)  # type: ignore[attr-defined]


def _table_2(results: pd.DataFrame) -> list[str]:
    lines = ["| method | p | ours F / ARI / NMI | published | bar |", "|---|---|---|---|---|"]
    for method, published in TABLE_2.items():
        for p, theirs in zip(NOISE, published, strict=True):
            ours = results[(results.method == method) & (results.p == p)][SCORES].mean()
            verdict = "–"
            if method in SLACK:
                # Published means have two digits: ours are compared at the same precision.
                enough = all(
                    round(o, 2) >= round(t - SLACK[method], 2)
                    for o, t in zip(ours, theirs, strict=True)
                )
                verdict = "pass" if enough else "FAIL"
            lines.append(f"| {method} | {p:g} | {_three(ours)} | {_three(theirs)} | {verdict} |")
    return lines


def _table_1(results: pd.DataFrame) -> list[str]:
    lines = ["| method | data set | ours F / ARI / NMI | published |", "|---|---|---|---|"]
    for method, sets in TABLE_1.items():
        for name, theirs in sets.items():
            chosen = results[(results.method == method) & (results.dataset == name)]
            ours = _three(chosen[SCORES].mean())
            lines.append(f"| {method} | {name} | {ours} | {_three(theirs)} |")
    return lines


def _table_3(results: pd.DataFrame) -> list[str]:
    lines = ["| method | r | p = 1 | p = .95 | p = .9 | p = .8 |", "|---|---|---|---|---|---|"]
    for method in TABLE_2:
        for rate in (0.01, 0.03, 0.05):
            chosen = results[(results.method == method) & (results.r == rate)]
            cells = [f"{chosen[chosen.p == p].f.mean():.2f}" for p in NOISE]
            lines.append(f"| {method} | {rate:g} | {' | '.join(cells)} |")
    return lines


def _figure_3(figure: pd.DataFrame) -> list[str]:
    true = {"iris": 3, "wine": 3, "ecoli": 8, "glass": 7, "balance_scale": 3}
    figure = figure.assign(deviation=figure.dataset.map(true) - figure.k)
    table = figure.pivot_table("f", ["method"], "deviation", aggfunc="mean")
    head = "| method | " + " | ".join(f"{d:+d}" for d in table.columns) + " | range |"
    lines = [head, "|---" * (len(table.columns) + 2) + "|"]
    for method, values in table.iterrows():
        cells = " | ".join("" if pd.isna(v) else f"{v:.2f}" for v in values)
        lines.append(f"| {method} | {cells} | {values.max() - values.min():.2f} |")
    return lines


def write_report(folder: Path) -> None:
    """RESULTS.md in the folder of the CSV files."""
    results = pd.read_csv(folder / "results.csv")
    figure = pd.read_csv(folder / "figure3.csv")
    trials = results.trial.nunique()
    parts = [
        "# Seed 002: TVClust and RDP-means on five UCI sets",
        f"Mean of {trials} draws of pairs a setting; `python experiments/tvclust/run.py` makes "
        "this page. Protocol: see `protocol.py`. RDP-means and DP-means run as the authors ran "
        "them (plain distance, lambda by the k-th largest distance to the mean); TVClust is "
        "variational with truncation 15 and this library's defaults.",
        "## Table 2: by noise",
        *_table_2(results),
        "",
        "Bars: RDP-means within .03 of the published or above, TVClust at or above it.",
        "## Table 1: by data set",
        *_table_1(results),
        "## Table 3: F by number of pairs and noise",
        *_table_3(results),
        "## Figure 3: F when k - deviation clusters are announced (p = 1, r = .03)",
        *_figure_3(figure),
        "",
        (folder / "notes.md").read_text().strip(),
    ]
    text = "\n".join(
        part if part.startswith("|") else f"\n{part}\n" if part else "" for part in parts
    )
    (folder / "RESULTS.md").write_text(text.strip().replace("\n\n\n", "\n\n") + "\n")


if __name__ == "__main__":
    write_report(Path(__file__).parent)
