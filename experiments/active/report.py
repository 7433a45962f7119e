"""Turn the tables of `run.py` into `RESULTS.md`: `python experiments/active/report.py`."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from protocol import BAR, COBRAS, MARKS

HERE = Path(__file__).parent


def means(part: str, score: str):
    """{(set, strategy): {questions: mean over folds}}."""
    found = defaultdict(lambda: defaultdict(list))
    with open(HERE / f"results_{part}.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["set"], row["strategy"]][int(row["questions"])].append(float(row[score]))
    return {
        key: {budget: float(np.mean(values)) for budget, values in curve.items()}
        for key, curve in found.items()
    }


def area(curve: dict[int, float]) -> float:
    """Area under the curve over its range of questions, divided by the range."""
    x = sorted(curve)
    y = np.array([curve[b] for b in x])
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) / (x[-1] - x[0]))


def areas(part: str, score: str):
    """{(set, strategy): area of each fold}, folds in the same order for every strategy."""
    curves = defaultdict(lambda: defaultdict(dict))
    with open(HERE / f"results_{part}.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            curve = curves[row["set"], row["strategy"]][int(row["fold"])]
            curve[int(row["questions"])] = float(row[score])
    return {
        key: np.array([area(folds[fold]) for fold in sorted(folds)])
        for key, folds in curves.items()
    }


def compare(part: str, score: str, ours: str, theirs: str):
    """Lines of a table of areas; the difference is paired by fold, with its standard error."""
    by_fold = areas(part, score)
    yield f"| set | {ours} | {theirs} | difference (standard error) |"
    yield "|---|---|---|---|"
    verdicts = []
    for name in dict.fromkeys(name for name, _ in by_fold):
        a, b = by_fold[name, ours], by_fold[name, theirs]
        gap, error = (a - b).mean(), (a - b).std(ddof=1) / np.sqrt(a.size)
        verdicts.append("level" if abs(gap) < 2 * error else "ahead" if gap > 0 else "behind")
        yield f"| {name} | {a.mean():.3f} | {b.mean():.3f} | {gap:+.3f} ({error:.3f}) |"
    yield ""
    counts = ", ".join(f"{word} on {verdicts.count(word)}" for word in ("ahead", "level", "behind"))
    yield f"Of {len(verdicts)} sets: {counts} (level: within two standard errors)."


def cobras(strategy: str):
    """Whole-set ARI after 25 / 50 / 100 / 200 questions."""
    curves = means("cobras", "ari")
    yield "| set | " + " | ".join(f"{m} ours / COBRAS" for m in MARKS) + " |"
    yield "|---" * (len(MARKS) + 1) + "|"
    ours = []
    for name, theirs in COBRAS.items():
        mine = [curves[name, strategy][m] for m in MARKS]
        ours.append(mine)
        cells = " | ".join(f"{a:.3f} / {b:.3f}" for a, b in zip(mine, theirs, strict=True))
        yield f"| {name} | {cells} |"
    both = zip(np.mean(ours, axis=0), np.mean(list(COBRAS.values()), axis=0), strict=True)
    yield "| **mean** | " + " | ".join(f"**{a:.3f}** / {b:.3f}" for a, b in both) + " |"
    yield "| bar | " + " | ".join(f"{b:.2f}" for b in BAR) + " |"


def main() -> None:
    """Write the page."""
    notes = (HERE / "notes.md").read_text(encoding="utf-8")
    lines = [
        "# Active learning, measured",
        "",
        "Made by `report.py` from the `results_*.csv` that `run.py` writes. Areas are under the",
        "mean curve, divided by the range of questions.",
        "",
        "## InformationGain against ExploreConsolidate",
        "",
        "ARI over all rows, 25 to 200 questions, 3 runs. InformationGain clusters by itself and is",
        "not told K; ExploreConsolidate is told K and clusters by PCKMeans.",
        "",
        *compare("own", "ari", "InformationGain", "ExploreConsolidate"),
        "",
        "With 10 % wrong answers; the rate is told to neither:",
        "",
        *compare("noise", "ari", "InformationGain", "ExploreConsolidate"),
        "",
        "## InformationGain against COBRAS",
        "",
        "As it is by default (the error rate is estimated):",
        "",
        *cobras("InformationGain"),
        "",
        "With `error_rate=0` (every answer is trusted, none is checked):",
        "",
        *cobras("InformationGain(0)"),
        "",
        notes.strip(),
        "",
    ]
    (HERE / "RESULTS.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
