"""RESULTS.md and curves.png from results.csv. Run alone to write them again."""

from __future__ import annotations

import csv
import warnings
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_rel

CLAIMS = {  # issue 7; the thesis' figures 4.1 and 4.4, section 5.5 for text
    ("iris", "single"): "GPK at least MPCK",
    ("iris", "per cluster"): "GPK at least MPCK",
    ("protein", "single"): "GPK at least MPCK",
    ("crabs_sex", "per cluster"): "GPK at least MPCK",
    ("news_similar_3", "cosine"): "graph propagation lifts HMRF-KMeans",
}
LEVELS = (0.90, 0.95, 0.975, 0.99)  # of confidence, as the thesis plots them

Setting = tuple[str, str]


class Summary(NamedTuple):
    """A method with a number of pairs: means over draws, and the gain over the plain estimator."""

    data: str
    metric: str
    method: str
    n_pairs: int
    draws: int
    f: float
    ari: float
    gain: float
    error: float  # standard error of the gain
    p_value: float
    n_propagated: float
    must_precision: float
    cannot_precision: float


def summaries(rows: Iterable[dict[str, Any]]) -> list[Summary]:
    """One for each setting, method and number of pairs; a draw's folds are one observation."""
    measured = ("f", "ari", "n_propagated", "must_precision", "cannot_precision")
    groups: dict[Any, dict[int, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        key = row["data"], row["metric"], row["method"], int(row["n_pairs"])
        values = [np.nan if row[name] == "" else float(row[name]) for name in measured]
        groups[key][int(row["draw"])].append(values)
    plain: dict[Setting, str] = {}
    found = []
    for (data, metric, method, n_pairs), draws in groups.items():
        base = groups[data, metric, plain.setdefault((data, metric), method), n_pairs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no propagated pairs of a kind: no precision
            mine = np.array([np.nanmean(draws[draw], axis=0) for draw in draws])
            mean = np.nanmean(mine, axis=0)
        theirs = np.array([np.nanmean(np.array(base[draw])[:, 0]) for draw in draws])
        gain = mine[:, 0] - theirs
        varies = len(gain) > 1 and bool(gain.any())
        found.append(
            Summary(
                data,
                metric,
                method,
                n_pairs,
                len(draws),
                *mean[:2],
                gain.mean(),
                gain.std(ddof=1) / len(gain) ** 0.5 if varies else 0.0,
                ttest_rel(mine[:, 0], theirs).pvalue if varies else 1.0,
                *mean[2:],
            )
        )
    return found


def read(folder: Path) -> tuple[dict[Setting, dict[str, list[Summary]]], dict[str, list[Setting]]]:
    """Summaries by setting and method, and the settings run from each commit."""
    with (folder / "results.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    commits: dict[str, list[Setting]] = defaultdict(list)
    for row in rows:
        setting = row["data"], row["metric"]
        if setting not in commits[row["commit"]]:
            commits[row["commit"]].append(setting)
    curves: dict[Setting, dict[str, list[Summary]]] = defaultdict(lambda: defaultdict(list))
    for summary in summaries(rows):
        curves[summary.data, summary.metric][summary.method].append(summary)
    return curves, commits


def verdict(setting: Setting, rows: list[Summary]) -> str:
    """What the curve of a propagating method shows against the plain one."""
    mean = sum(row.gain for row in rows) / len(rows)
    better = [str(row.n_pairs) for row in rows if row.gain > 0 and row.p_value < 0.05]
    worse = [str(row.n_pairs) for row in rows if row.gain < 0 and row.p_value < 0.05]
    text = f"mean gain {mean:+.4f}"
    text += f", significantly better at {', '.join(better)} pairs" if better else ""
    text += f", significantly worse at {', '.join(worse)} pairs" if worse else ""
    method = rows[0].method
    if method.startswith("control") or method.endswith("from centres"):
        return text
    if setting in CLAIMS:
        return f"{CLAIMS[setting]}: {'met' if mean >= 0 and not worse else 'MISSED'} ({text})"
    return f"not significantly worse: {'MISSED' if worse else 'met'} ({text})"


def table(methods: dict[str, list[Summary]]) -> list[str]:
    """Markdown rows of one setting."""
    lines = [
        "| method | pairs | F | ARI | gain in F | p | propagated | right must | right cannot |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    plain = next(iter(methods))
    for method, rows in methods.items():
        for r in rows:
            shown = [method, str(r.n_pairs), f"{r.f:.3f}", f"{r.ari:.3f}"]
            if method != plain:
                shown += [f"{r.gain:+.4f} ± {r.error:.4f}", f"{r.p_value:.3g}"]
                shown += [f"{r.n_propagated:.3g}"]
                shown += [
                    "" if np.isnan(right) else f"{right:.2f}"
                    for right in (r.must_precision, r.cannot_precision)
                ]
            lines.append("| " + " | ".join(shown) + " |" + " |" * (9 - len(shown)))
    return [*lines, ""]


def write_report(folder: Path) -> None:
    """Tables, verdicts and the figure."""
    curves, commits = read(folder)
    lines = [
        "# Propagation against the estimator it goes around",
        "",
        "F on held-out folds, pairs from the training folds (seed 004, section 4.2); gain over the",
        "plain estimator with the same pairs and seed, its standard error, and the p-value of a",
        "paired t-test over draws (two-sided, not corrected for the number of tests; a draw is the",
        'mean of its five folds). "Control": threshold 1, which is running again with pairs for',
        'equal rows only. "From centres": each round starts from the last centres alone, as the',
        "thesis has it, instead of from the last model. `notes.md` says what it means.",
        "",
    ]
    for commit, settings in commits.items():
        lines.append(f"- Commit {commit}: {', '.join(' '.join(s) for s in settings)}.")
    lines.append("")
    for setting, methods in curves.items():
        _, *others = methods
        draws = sorted({row.draws for rows in methods.values() for row in rows})
        lines += [f"## {setting[0]}, {setting[1]} metric", ""]
        lines += [f"{' or '.join(map(str, draws))} draws.", ""]
        lines += [f"- {m}: {verdict(setting, methods[m])}" for m in others]
        lines += ["", *table(methods)]
    (folder / "RESULTS.md").write_text("\n".join(lines), encoding="utf-8")
    draw_curves(folder, curves)


def draw_curves(folder: Path, curves: dict[Setting, dict[str, list[Summary]]]) -> None:
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
        shown = {m: rows for m, rows in methods.items() if not m.startswith("control")}
        for at, (method, rows) in enumerate(shown.items()):
            size = [r.n_pairs for r in rows]
            above.plot(size, [r.f for r in rows], marker="o", label=method)
            if at:
                sure = [
                    np.sign(r.gain) * sum(1 - r.p_value >= level for level in LEVELS) for r in rows
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
