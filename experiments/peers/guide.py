"""docs/which-estimator.md, docs/images/peers.png and the table in README.md from the results.

    python experiments/peers/guide.py

Every recommendation on the page is computed here. Full results are used where there are any.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "defaults"), str(HERE)]

import figure  # noqa: E402
import pandas as pd  # noqa: E402
from advice import (  # noqa: E402
    CLOSE,
    VISIBLE,
    Choice,
    best_of,
    choices,
    filled,
    summary,
)
from defaults_page import section, table  # noqa: E402

from lab.page import Results, origin, results_of  # noqa: E402
from lab.study import load_study  # noqa: E402

ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "which-estimator.md"
README = ROOT / "README.md"
TEMPLATE = HERE / "page.template"
PICTURE = ROOT / "docs" / "images" / "peers.png"
MARKS = ("<!-- peers: written by experiments/peers/guide.py -->", "<!-- end of peers -->")


def percent(share: float) -> str:
    """A share in words."""
    return f"{100 * share:.0f} %"


def few_or_many(per_100: float, size: float) -> str:
    """How many pairs that is."""
    return f"{per_100 * size / 100:.0f} pairs"


def by_setting(ours: pd.DataFrame, size: int) -> str:
    """The best of every shape, number of pairs and share of wrong answers, at one size."""
    some = ours[ours["size"] == size]
    columns = sorted({(row.per_100, row.noise) for row in some.itertuples()})
    head = ["shape", *(f"{few_or_many(p, size)}, {percent(q)} wrong" for p, q in columns)]
    rows = []
    for shape in dict.fromkeys(some["shape"]):
        cells = []
        for per_100, noise in columns:
            setting = some[
                (some["shape"] == shape) & (some.per_100 == per_100) & (some.noise == noise)
            ]
            cells.append(best_of(setting))
        rows.append([str(shape), *cells])
    return table(head, rows)


def by_method(ours: pd.DataFrame) -> str:
    """How far each is from the best on average, at worst, and how often it is as good."""
    sizes = sorted(ours["size"].unique())
    head = ["estimator", "ARI", "below the best", "at worst", f"within {CLOSE:g} of the best"]
    head += [f"CPU s, {size:,} rows" for size in sizes]
    rows = []
    for line in summary(ours).itertuples():
        seconds = [
            ours[(ours.method == line.Index) & (ours["size"] == size)].seconds.median()
            for size in sizes
        ]
        numbers = [f"{line.ari:.2f}", f"{line.gap:.2f}", f"{line.worst:.2f}", percent(line.close)]
        rows.append([str(line.Index), *numbers, *(f"{value:.2g}" for value in seconds)])
    return table(head, rows)


def recommendations(ours: pd.DataFrame) -> str:
    """For each value of what a user may know: the estimator nearest to the best there."""
    names = {
        "noise": lambda value: f"{percent(value)} of the answers wrong",
        "per_100": lambda value: f"{value:g} pairs for 100 rows",
        "shape": lambda value: f"shape: {value}",
        "size": lambda value: f"{value:,} rows",
    }
    rows = []
    for column, name in names.items():
        for value in dict.fromkeys(ours[column]):
            order = summary(ours[ours[column] == value])
            use, then = (f"`{line.Index}` ({line.ari:.2f})" for line in order[:2].itertuples())
            rows.append([name(value), use, then, f"{order.iloc[0].gap:.2f}"])
    return table(["you know", "use (mean ARI)", "next", "first's distance to the best"], rows)


def verdict(ours: pd.DataFrame, found: dict[str, Choice]) -> str:
    """Why a program that sees rows and pairs would not choose better than the reader."""
    one = found["one for everything"]
    ways_to_know = (" and ".join(VISIBLE), "noise", "shape")
    gain, noise, shape = (one.gap - found["by " + known].gap for known in ways_to_know)
    seen = "A program can see the numbers of rows and pairs. Choosing by them "
    if gain <= 0:
        names = " or ".join(f"`{name}`" for name in one.methods)
        seen += (
            f"is no better than one estimator for everything ({gain:+.3f} ARI), so the suggestion\n"
            f"is the same for everybody, {names}, and needs no function."
        )
    else:
        picks = {value: summary(part).index[0] for value, part in ours.groupby("per_100")}
        rule = ", ".join(f"`{name}` with {at:g} pairs for 100 rows" for at, name in picks.items())
        seen += (
            f"gains {gain:.3f} ARI over one estimator for everything. On all draws it\n"
            f"would be {rule}; but what is chosen varies with the draw left out (the table's last\n"
            "column), and a rule that changes with a draw is none to build in."
        )
    return (
        f"{seen}\nWhat you may know and a program does not is how many answers are wrong\n"
        f"({noise:+.3f}) and the shape of the clusters ({shape:+.3f}): hence the table above."
    )


def ways(found: dict[str, Choice]) -> str:
    """Ways to choose and what they cost."""
    rows = [
        [name, f"{way.gap:.3f}", ", ".join(f"`{method}`" for method in way.methods)]
        for name, way in found.items()
    ]
    return table(["choose", "mean ARI below the best", "among"], rows)


def page(results: Results) -> str:
    """The template, filled."""
    frame = results.frame
    ours = filled(frame[(frame.group == "ours") & frame.part.isin(["small", "large"])])
    floors = filled(frame[(frame.group == "floor") & (frame.part == "small")])
    sizes = sorted(ours["size"].unique())
    draws = {size: ours[ours["size"] == size].draw.nunique() for size in sizes}
    found = choices(ours)
    mean = ours[ours["size"] == sizes[0]].groupby("method").ari.mean()
    best = [f"## The best of each setting, {n:,} rows\n\n" + by_setting(ours, n) for n in sizes]
    first, second = (line for _, line in summary(ours)[:2].iterrows())
    return TEMPLATE.read_text(encoding="utf-8").format(
        draws=", ".join(f"{count} at {n:,} rows" for n, count in draws.items()),
        origin=origin(results),
        close=f"{CLOSE:g}",
        size=f"{sizes[0]:,}",
        first=first.name,
        first_gap=f"{first.gap:.2f}",
        first_close=percent(first.close),
        first_small=f"{mean[first.name]:.2f}",
        second=second.name,
        second_gap=f"{second.gap:.2f}",
        second_close=percent(second.close),
        second_small=f"{mean[second.name]:.2f}",
        floor=f"{floors.groupby('method').ari.mean().max():.2f}",
        recommendations=recommendations(ours),
        methods=by_method(ours),
        settings="\n".join(best),
        defaults=section(),
        choices=ways(found),
        verdict=verdict(ours, found),
    )


def side_by_side(frame: pd.DataFrame) -> str:
    """For the README: everyone on the same draws, mean over shapes."""
    same = figure.same_draws(frame)
    noises = sorted(same.noise.unique())
    order = same.groupby("method").ari.mean().sort_values(ascending=False)
    rows = []
    for method in order.index:
        some = same[same.method == method]
        cells = [figure.score(some[some.noise == noise]) for noise in noises]
        rows.append([str(method), *cells, f"{max(some.seconds.median(), figure.TICK):.2g}"])
    head = ["300 rows, 300 answers", *(f"{percent(noise)} wrong" for noise in noises), "CPU s"]
    return table(head, rows) + "\n" + warning(same, noises[-1]) + "\n"


def warning(same: pd.DataFrame, noise: float) -> str:
    """How many of ours wrong answers take below the better method that is told nothing."""
    mean = same[same.noise == noise].groupby(["group", "method"]).ari.mean()
    floor, ours = mean["floor"], mean["ours"].fillna(0.0)
    below = int((ours < floor.max()).sum())
    return (
        f"With {percent(noise)} of the answers wrong, {below} of our {len(ours)} do worse than\n"
        f"{floor.idxmax().removeprefix('sklearn ')} without any ({floor.max():.2f}); see "
        "[which estimator to use then](docs/which-estimator.md)."
    )


def write_readme(block: str) -> None:
    """Between its two marks, if it has them."""
    text = README.read_text(encoding="utf-8")
    begin, end = (text.find(mark) for mark in MARKS)
    if begin >= 0 and end > begin:
        text = text[: begin + len(MARKS[0])] + "\n\n" + block + "\n" + text[end:]
        README.write_text(text, encoding="utf-8")


def main() -> None:
    """Write everything."""
    results = results_of(load_study(HERE))
    PAGE.write_text(page(results), encoding="utf-8")
    figure.draw(results.frame, PICTURE)
    write_readme(side_by_side(results.frame))


if __name__ == "__main__":
    main()
