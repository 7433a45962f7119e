"""RESULTS.md and curves.png from results.csv. Run alone to write them again."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

CLAIMS = {  # the thesis' figures 4.1 and 4.4; section 5.5 for text
    ("iris", "single"): "GPK above MPCK",
    ("iris", "per cluster"): "GPK above MPCK",
    ("protein", "single"): "GPK above MPCK",
    ("crabs_sex", "per cluster"): "GPK above MPCK",
    ("news_similar_3", "cosine"): "graph propagation above HMRF-KMeans",
}
LEVELS = (0.90, 0.95, 0.975, 0.99)  # of confidence, as the thesis plots them

Row = dict[str, Any]


def read(folder: Path) -> dict[tuple[str, str], dict[str, list[Row]]]:
    """Rows of results.csv by (data, metric) and method."""
    curves: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "results.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            curves[row["data"], row["metric"]][row["method"]].append(row)
    return curves


def verdict(setting: tuple[str, str], rows: list[Row]) -> str:
    """What the curve of a propagating method shows against the plain one."""
    gains = [float(row["f_gain"]) for row in rows]
    worse = [r["n_pairs"] for r in rows if float(r["f_gain"]) < 0 and float(r["p_value"]) < 0.05]
    mean = sum(gains) / len(gains)
    if rows[0]["method"].endswith("(1)"):
        held = "for comparison"
    elif setting in CLAIMS:
        held = "met" if mean >= 0 and not worse else "MISSED"
    else:
        held = "not worse" if not worse else "WORSE"
    where = f", significantly worse at {', '.join(worse)} pairs" if worse else ""
    return f"{held} (mean gain {mean:+.3f}{where})"


def write_report(folder: Path) -> None:
    """Tables, verdicts and the figure."""
    curves = read(folder)
    lines = [
        "# Propagation against the estimator it goes around",
        "",
        "F on held-out folds, pairs from the training folds (seed 004, section 4.2); gain over the",
        "plain estimator with the same pairs and seed, and the p-value of a paired t-test over",
        "draws (two-sided; a draw is the mean of its five folds). `notes.md` says what it means.",
        "",
    ]
    for setting, methods in curves.items():
        plain, *others = methods
        lines += [f"## {setting[0]}, {setting[1]} metric", ""]
        claim = CLAIMS.get(setting, "not significantly worse")
        lines += [f"- {m}: {claim}: {verdict(setting, methods[m])}" for m in others]
        lines += [
            "",
            "| method | pairs | draws | F | gain | p | propagated | right must | right cannot |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for method, rows in methods.items():
            for r in rows:
                shown = [method, r["n_pairs"], r["draws"], r["f"]]
                if method != plain:
                    shown += [r["f_gain"], r["p_value"], r["n_propagated"]]
                    shown += [r["must_precision"], r["cannot_precision"]]
                lines.append("| " + " | ".join(shown) + " |" + " |" * (9 - len(shown)))
        lines.append("")
    (folder / "RESULTS.md").write_text("\n".join(lines), encoding="utf-8")
    draw_curves(folder, curves)


def draw_curves(folder: Path, curves: dict[tuple[str, str], dict[str, list[Row]]]) -> None:
    """Curves above, significance against the plain estimator below, as in the thesis."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    across = 4
    down = -(-len(curves) // across)
    figure, axes = plt.subplots(
        2 * down, across, figsize=(3.4 * across, 4.4 * down), height_ratios=[3, 1] * down
    )
    for axis in axes.flat:
        axis.set_visible(False)
    for number, (setting, methods) in enumerate(curves.items()):
        row, column = divmod(number, across)
        above, below = axes[2 * row : 2 * row + 2, column]
        above.set_visible(True)
        below.set_visible(True)
        for at, (method, rows) in enumerate(methods.items()):
            size = [int(row["n_pairs"]) for row in rows]
            above.plot(size, [float(row["f"]) for row in rows], marker="o", label=method)
            if at:
                sign = [1 if float(row["f_gain"]) >= 0 else -1 for row in rows]
                sure = [
                    s * sum(1 - float(row["p_value"]) >= level for level in LEVELS)
                    for s, row in zip(sign, rows, strict=True)
                ]
                below.step(size, sure, where="mid", color=f"C{at}")
        above.set_title(f"{setting[0]}, {setting[1]}", fontsize=9)
        above.legend(fontsize=7)
        below.set_ylim(-4.5, 4.5)
        below.set_yticks([-4, -2, 0, 2, 4], ["-99", "-95", "0", "95", "99"])
        below.axhline(0, color="grey", linewidth=0.5)
        below.set_xlabel("pairs")
        if column == 0:
            above.set_ylabel("F on the test fold")
            below.set_ylabel("confidence, %")
    figure.tight_layout()
    figure.savefig(folder / "curves.png", dpi=70)
    plt.close(figure)


if __name__ == "__main__":
    write_report(Path(__file__).parent)
