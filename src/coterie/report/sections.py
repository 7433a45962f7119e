"""The parts of the page, each from the facts alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.report.blocks import Section, bar_cell, section, table
from coterie.report.clusters import Cluster
from coterie.report.facts import MOST_COMPARED, MOST_DETAILED, Facts
from coterie.report.html import Html, joined, tag
from coterie.report.pictures import COLORS, curve, flat_map, swatch
from coterie.report.shown import number, on_scale, short_name
from coterie.report.words import count, percent, standing_out, summary

__all__ = [
    "clusters",
    "metric",
    "objective",
    "overview",
    "pairs",
    "picture",
    "truth",
]

_GLANCE = 40  # characters that can be compared at a glance
_NUMERIC = str.maketrans("", "", "+-−.,e ")
MOST_WEIGHTS = 30  # columns of a learned metric that are shown
MOST_METRICS = 20  # metrics of clusters side by side
MOST_LISTED = 100  # clusters whose sizes are listed, the largest if there are more


def overview(facts: Facts) -> Section:
    """Sentences and the four numbers everyone asks for first."""
    m, broken = facts.constraints.n_pairs, int(facts.broken.sum())
    tiles = [("rows", f"{facts.n:,}", ""), ("clusters", f"{len(facts.clusters):,}", "")]
    if facts.all_pairs_known:
        tiles.append(("pairs known", f"{m:,}", ""))
    if m:
        tiles.append(("pairs broken", f"{broken:,}", "bad" if broken else "good"))
    if facts.truth is not None:
        tiles.append(("adjusted Rand index", f"{facts.truth.ari:.3f}", ""))
    listing = [
        tag("div", tag("dt", name), tag("dd", value), class_=f"tile {mood}".strip())
        for name, value, mood in tiles
    ]
    told = [tag("p", paragraph, dir="auto") for paragraph in summary(facts)]
    lines = [tag("li", line, dir="auto") for line in standing_out(facts)]
    told.append(tag("ul", *lines) if lines else Html())
    return section("Summary", tag("dl", *listing, class_="tiles"), *told, id_="summary")


def picture(facts: Facts) -> Section:
    """The map, its legend, and what was left out of it."""
    names = [cluster.name for cluster in facts.clusters]
    drawing = flat_map(facts.flat, facts.labels, names, facts.constraints.kind)
    legend = tag(
        "ul",
        *(tag("li", swatch(c.index), f"{c.name}") for c in facts.clusters[:MOST_DETAILED]),
        *_rest(len(facts.clusters) - MOST_DETAILED),
        *_line_legend(facts),
        class_="legend",
    )
    caption = tag("figcaption", " ".join(_about_map(facts)), dir="auto")
    return section("Map", tag("figure", drawing, legend, caption), id_="map")


def _rest(left: int) -> list[Html]:
    return [tag("li", f"and {count(left, 'more cluster')}")] if left > 0 else []


def _line_legend(facts: Facts) -> list[Html]:
    must = facts.constraints.kind[facts.flat.pairs] > 0
    kinds = [
        ("must-link", "must", must & ~facts.flat.broken),
        ("cannot-link", "cannot", ~must & ~facts.flat.broken),
        ("broken must-link", "must broken", must & facts.flat.broken),
        ("broken cannot-link", "cannot broken", ~must & facts.flat.broken),
    ]
    return [
        tag(
            "li",
            tag(
                "svg",
                tag("path", class_=f"pair {class_}", d="M0 8H28"),
                viewBox="0 0 28 16",
                class_="swatch line",
                aria_hidden="true",
            ),
            name,
        )
        for name, class_, chosen in kinds
        if chosen.any()
    ]


def _about_map(facts: Facts) -> list[str]:
    flat = facts.flat
    told = [f"Rows are placed by {flat.projection.method}."]
    if any(flat.projection.axes):
        across, up = flat.projection.axes
        told.append(f"Across: {across}." + (f" Up: {up}." if up else ""))
    if flat.rows.size < facts.n:
        told.append(f"Shown are {flat.rows.size:,} of {facts.n:,} rows, those in pairs first.")
    if flat.pairs.size < facts.constraints.n_pairs:
        told.append(
            f"Shown are {flat.pairs.size:,} of {facts.constraints.n_pairs:,} pairs, "
            "broken ones first."
        )
    return told


def clusters(facts: Facts) -> Section:
    """Sizes, then what is typical of each cluster."""
    by_size = sorted(facts.clusters, key=lambda cluster: -cluster.size)
    largest = by_size[0].size
    listed = facts.clusters if len(by_size) <= MOST_LISTED else by_size[:MOST_LISTED]
    rows: list[list[Any]] = [
        [
            joined([swatch(c.index), c.name]),
            bar_cell(f"{c.size:,} ({percent(c.share)})", c.size / largest, f"c{c.index % COLORS}"),
        ]
        for c in listed
    ]
    unlisted = by_size[len(listed) :]
    if unlisted:
        size = sum(c.size for c in unlisted)
        rows.append([f"{len(unlisted):,} smaller", f"{size:,} ({percent(size / facts.n)})"])
    sizes = table("Sizes of the clusters", ["cluster", "rows"], rows, "sizes")
    told = [cluster_card(facts, cluster) for cluster in facts.clusters if cluster.nearest]
    left = len(facts.clusters) - len(told)
    more = tag("p", f"{count(left, 'smaller cluster')} not described.") if left else None
    return section("Clusters", sizes, *told, more, id_="clusters")


def cluster_card(facts: Facts, cluster: Cluster) -> Html:
    """One cluster: how it differs, and the rows in its middle."""
    heading = tag(
        "h3",
        swatch(cluster.index),
        f"Cluster {cluster.name}",
        tag("small", f"{count(cluster.size, 'row')}, {percent(cluster.share)}"),
    )
    differs = _words(cluster) if facts.sparse else _differences(cluster)
    columns = [feature.column for feature in cluster.typical]
    fields = [facts.records.fields(row, columns) for row in cluster.nearest]
    shown = table(
        "Rows nearest to its centre",
        ["row", *(name for name, _ in fields[0])],
        [
            [facts.ids[row], *(value for _, value in values)]
            for row, values in zip(cluster.nearest, fields, strict=True)
        ],
        "records",
    )
    return tag("article", heading, differs, shown, class_="card")


def _words(cluster: Cluster) -> Html:
    if not cluster.typical:
        return tag("p", "Nothing sets it apart from all rows.")
    words = [tag("li", feature.name, dir="auto") for feature in cluster.typical]
    return joined([tag("p", "More here than elsewhere:"), tag("ul", *words, class_="words")])


def _differences(cluster: Cluster) -> Html:
    if not cluster.typical:
        return tag("p", "Nothing sets it apart from all rows.")
    widest = max(abs(feature.difference) for feature in cluster.typical)
    rows = [
        [
            feature.name,
            on_scale(feature.here, feature.spread),
            on_scale(feature.overall, feature.spread),
            bar_cell(
                f"{'+' if feature.difference > 0 else '−'}{abs(feature.difference):.2f}",
                abs(feature.difference) / widest / 2,
                "up" if feature.difference > 0 else "down",
            ),
        ]
        for feature in cluster.typical
    ]
    head = ["column", "mean here", "overall", "difference (sd)"]
    return table("What is typical", head, rows, "typical")


def objective(facts: Facts) -> Section | None:
    """The course of the fit, if the model kept it and there is one to see."""
    if facts.history is None or facts.history[0].size < 2:
        return None
    values, title = facts.history
    caption = tag("figcaption", f"The {title}, after each iteration.")
    return section("Course of the fit", tag("figure", curve(values, title), caption), id_="fit")


def metric(facts: Facts) -> Section | None:
    """Weights of the learned metric, heaviest columns first."""
    if facts.metric is None:
        return None
    weights = facts.metric
    order = np.argsort(-weights.max(axis=0), kind="stable")[:MOST_WEIGHTS]
    widest = np.maximum(weights.max(axis=1), np.finfo(float).tiny)
    one_for_all = len(weights) == 1 and len(facts.clusters) > 1
    head = ["all clusters"] if one_for_all else [f"cluster {c.name}" for c in facts.clusters]
    if len(head) != len(weights):  # clusters that lost all rows still have a metric
        head = [f"metric {r}" for r in range(len(weights))]
    shown_metrics = range(min(len(weights), MOST_METRICS))
    rows = [
        [
            facts.names[j],
            *(
                bar_cell(number(weights[r, j]), max(weights[r, j], 0.0) / widest[r])
                for r in shown_metrics
            ),
        ]
        for j in order
    ]
    told = "A larger weight makes differences in a column count more. Weights are for the units of "
    told += "the columns, so compare columns that were brought to one scale."
    if facts.metric_is_full:
        told += " The metric is a full matrix; its diagonal is shown."
    if order.size < len(facts.names):
        told += f" The {order.size} heaviest of {len(facts.names):,} columns."
    if len(head) > len(shown_metrics):
        told += f" The first {len(shown_metrics)} of {len(head):,} metrics."
    head = head[: len(shown_metrics)]
    shown = table("Weights of the columns", ["column", *head], rows, "weights")
    return section("Learned metric", tag("p", told), shown, id_="metric")


def truth(facts: Facts) -> Section | None:
    """Classes against clusters."""
    if facts.truth is None:
        return None
    confusion = facts.truth.confusion
    totals = confusion.counts.sum(axis=1)
    rows = [
        [short_name(name), *(bar_cell(f"{n:,}", n / total) for n in line)]
        for name, line, total in zip(
            confusion.classes.tolist(), confusion.counts.tolist(), totals.tolist(), strict=True
        )
    ]
    head = ["true class", *(f"cluster {short_name(name)}" for name in confusion.clusters.tolist())]
    shown = table("Rows by true class and cluster", head, rows, "weights")
    left = max(len(confusion.classes), len(confusion.clusters)) > MOST_COMPARED
    told = "The largest classes and clusters; the others are counted together."
    return section("Compared with the truth", tag("p", told) if left else None, shown, id_="truth")


def pairs(facts: Facts) -> Section | None:
    """Suspect or broken pairs, each side by side."""
    if not facts.constraints.n_pairs:
        return None
    if facts.pairs_are_suspects:
        title = "Pairs that may be wrong"
        told = (
            "The pairs most at odds with everything else, most doubtful first. Worth a second look."
        )
    else:
        title = "Pairs that were broken"
        told = "The costliest first." if len(facts.pairs) else "None: every pair was kept."
    left = int(facts.broken.sum()) - len(facts.pairs)
    if not facts.pairs_are_suspects and left > 0:
        told += f" {count(left, 'more pair')} not shown."
    cards = [pair_card(facts, pair) for pair in facts.pairs]
    return section(title, tag("p", told), *cards, id_="pairs")


def pair_card(facts: Facts, pair: Any) -> Html:
    """Two rows next to each other, with what was said about them and where they went."""
    i, j, kind, value = pair
    together = facts.labels[i] == facts.labels[j]
    broken = together != (kind > 0)
    said = "must-link" if kind > 0 else "cannot-link"
    amount = (
        f"{percent(value)} likely wrong" if facts.pairs_are_suspects else f"cost {number(value)}"
    )
    where = [facts.clusters[facts.labels[row]].name for row in (i, j)]
    place = f"both in cluster {where[0]}" if together else f"in clusters {where[0]} and {where[1]}"
    heading = tag(
        "h3",
        tag("bdi", facts.ids[i]),
        " and ",
        tag("bdi", facts.ids[j]),
        tag("small", f"{said}, {'broken' if broken else 'kept'}; {place}; {amount}"),
    )
    columns = _columns_of(facts, i, j)
    left, right = facts.records.fields(i, columns), facts.records.fields(j, columns)
    rows = [[name, *_marked(a, b)] for (name, a), (_, b) in zip(left, right, strict=True)]
    head = ["field", facts.ids[i], facts.ids[j]]
    if len(rows) == 1:  # texts need the room, and the only field needs no name
        rows, head = [rows[0][1:]], head[1:]
    shown = table("The two rows side by side", head, rows, "pair-rows", heads=len(head) == 3)
    return tag("article", heading, shown, class_="card" + (" broken" if broken else ""))


def _marked(a: str, b: str) -> tuple[Any, Any]:
    """Two values, stressed where words differ that can be compared at a glance.

    Numbers are not: hardly any two are equal.
    """
    if a == b or max(len(a), len(b)) > _GLANCE or (_is_number(a) and _is_number(b)):
        return a, b
    return tag("strong", a), tag("strong", b)


def _is_number(text: str) -> bool:
    return text.translate(_NUMERIC).isdecimal()


def _columns_of(facts: Facts, i: int, j: int) -> list[int]:
    """Columns typical of the clusters of two rows, each once."""
    both = (feature for row in (i, j) for feature in facts.clusters[facts.labels[row]].typical)
    return list(dict.fromkeys(feature.column for feature in both))
