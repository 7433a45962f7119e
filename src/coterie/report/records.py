"""A report about records: how sure the clusters are, and why two records are the same or not."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.metrics import pairwise_scores
from coterie.records import odds_in_words
from coterie.report.blocks import Section, bar_cell, section, table, waterfall
from coterie.report.html import Html, tag
from coterie.report.made import how_it_was_made
from coterie.report.pages import page
from coterie.report.shown import number, read_columns, read_ids, shorten, shown_value
from coterie.report.words import count, percent

__all__ = ["build_record_report"]

MOST_PAIRS = 10  # shown side by side in a section
MOST_CLUSTERS = 12  # of the least sure and of the largest
MOST_MEMBERS = 12  # records of a cluster
_WORDS = ("different", "same")
_LIKELY_WRONG = 0.2  # answers from this probability of being wrong on are worth a look


class _Story:
    """A fitted model of records, with what people call the records and their fields."""

    def __init__(self, model: Any, records: Any, ids: Any) -> None:
        n = model.labels_.size
        self.model = model
        self.ids = read_ids(ids, n)
        known = {f.name: f.values for f in model.fields_ if f.kind != "vector"}
        columns = known if records is None else read_columns(records, n)
        compared = [f.name for f in model.fields_ if f.name in columns]
        self.names = [*compared, *(name for name in columns if name not in compared)]
        self.columns = columns
        self.chance = model.pair_proba(model.pairs_)

    def row(self, row: int) -> list[str]:
        """The fields of a record, as text."""
        return [shown_value(self.columns[name][row]) for name in self.names]


def build_record_report(
    model: Any,
    *,
    records: Any = None,
    ids: Any = None,
    truth: Any = None,
    made: Mapping[str, Any] | None = None,
    title: str | None = None,
    date: datetime.date | str | None = None,
) -> str:
    """A report about clusters of records, as one HTML page that needs nothing else.

    Parameters
    ----------
    model : fitted Dossier
    records : data frame or mapping of columns, optional
        The records as people know them; as they were compared if not given.
    ids, truth, made, title, date
        As in `build_report`.

    Returns
    -------
    str
    """
    story = _Story(model, records, ids)
    day = datetime.date.today().isoformat() if date is None else str(date)
    parts = [_summary(story), _doubtful(story), _clusters(story), _suspects(story)]
    parts.append(None if truth is None else _compared(model.labels_, truth))
    shown = [part for part in (*parts, how_it_was_made(model, made)) if part is not None]
    return page(title or f"Records that are the same, by {type(model).__name__}", day, shown)


# -- summary -------------------------------------------------------------------------------------
def _summary(story: _Story) -> Section:
    model = story.model
    sizes, clusters = np.unique(np.bincount(model.labels_), return_counts=True)
    tiles = {
        "records": f"{model.labels_.size:,}",
        "clusters": f"{model.n_clusters_:,}",
        "joined pairs right, by estimate": percent(model.precision_),
        "right pairs joined, by estimate": percent(model.recall_),
    }
    told = [
        f"Compared by {', '.join(f'{field.name} ({field.kind})' for field in model.fields_)}.",
        f"Two records alone are joined from a probability of {percent(model.threshold_)} on.",
    ]
    if model.constraints_.n_pairs:
        told.append(
            f"{count(model.constraints_.n_pairs, 'answer')}, of which "
            f"{len(model.violations_)} broken; about {percent(model.error_rate_)} of answers are "
            "taken to be wrong."
        )
    if np.isfinite(model.candidate_recall_):
        told.append(
            f"{percent(model.candidate_recall_)} of the answers “same” were among the pairs "
            "that would have been compared anyway."
        )
    rows = [
        [f"{size:,}", bar_cell(f"{n:,}", n / clusters.max())]
        for size, n in zip(sizes.tolist(), clusters.tolist(), strict=True)
    ]
    boxes = [
        tag("div", tag("dt", name), tag("dd", value), class_="tile")
        for name, value in tiles.items()
    ]
    return section(
        "Summary",
        tag("dl", *boxes, class_="tiles"),
        tag("ul", *(tag("li", line) for line in told)),
        table("Clusters by size", ["records in it", "clusters"], rows, "sizes"),
        id_="summary",
    )


# -- pairs ---------------------------------------------------------------------------------------
def _doubtful(story: _Story) -> Section | None:
    """The pairs nearest to the threshold."""
    if not story.chance.size:
        return None
    edge = np.log(story.model.threshold_ / (1 - story.model.threshold_))
    order = np.argsort(np.abs(story.model.log_odds_ - edge), kind="stable")[:MOST_PAIRS]
    told = "The pairs nearest to the threshold: a person's answer is worth most here."
    cards = [_pair_card(story, *story.model.pairs_[at].tolist()) for at in order]
    return section("Pairs in doubt", tag("p", told), *cards, id_="doubt")


def _suspects(story: _Story) -> Section | None:
    """Answers that everything else speaks against."""
    cards = [
        _pair_card(story, i, j, f"answered {_WORDS[kind > 0]}, {percent(wrong)} likely wrong")
        for i, j, kind, wrong in story.model.suspect_pairs(MOST_PAIRS)
        if wrong >= _LIKELY_WRONG
    ]
    if not cards:
        return None
    told = "Most at odds with everything else first. Worth a second look."
    return section("Answers that may be wrong", tag("p", told), *cards, id_="suspects")


def _pair_card(story: _Story, i: int, j: int, said: str = "") -> Html:
    """Two records side by side, and what each field adds."""
    model = story.model
    found = model.explain(i, j)
    together = model.labels_[i] == model.labels_[j]
    place = "joined" if together else "not joined"
    heading = tag(
        "h3",
        tag("bdi", story.ids[i]),
        " and ",
        tag("bdi", story.ids[j]),
        tag("small", "; ".join(filter(None, [f"{percent(found.probability)} same", place, said]))),
    )
    rows = [
        [name, *((a, b) if a == b else (tag("strong", a), tag("strong", b)))]
        for name, a, b in zip(story.names, story.row(i), story.row(j), strict=True)
    ]
    head = ["field", story.ids[i], story.ids[j]]
    return tag(
        "article",
        heading,
        table("The two records side by side", head, rows, "pair-rows"),
        waterfall(
            "What speaks for “same” (+) and against it", *_steps(found), "this pair", odds_in_words
        ),
        class_="card",
    )


def _steps(found: Any) -> tuple[list[str], list[float]]:
    """Names and steps of the waterfall of an explanation."""
    order = np.argsort(-np.abs(found.terms), kind="stable")
    names = ["any pair", *(f"{found.names[f]}: {found.findings[f]}" for f in order)]
    steps = [float(found.start), *found.terms[order].tolist()]
    if found.answers:
        names.append("answers")
        steps.append(float(np.clip(found.answers, -20, 20)))
    return [shorten(name, 60) for name in names], steps


# -- clusters ------------------------------------------------------------------------------------
def _clusters(story: _Story) -> Section | None:
    """Clusters that hold together by the least, and the largest."""
    labels = story.model.labels_
    sizes = np.bincount(labels)
    i, j = story.model.pairs_.T
    joined = labels[i] == labels[j]
    weakest = np.full(sizes.size, np.inf)
    np.minimum.at(weakest, labels[i[joined]], story.chance[joined])
    least = np.argsort(weakest, kind="stable")[:MOST_CLUSTERS].tolist()
    largest = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS].tolist()
    chosen = [c for c in dict.fromkeys([*least, *largest]) if sizes[c] > 1][:MOST_CLUSTERS]
    if not chosen:
        return None
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    cards = []
    for c in chosen:
        rows = order[ends[c] - sizes[c] : ends[c]].tolist()
        shown = [[story.ids[row], *story.row(row)] for row in rows[:MOST_MEMBERS]]
        lines = [f"{count(int(sizes[c]), 'record')}; the weakest pair {percent(weakest[c])} same"]
        if len(rows) > MOST_MEMBERS:
            lines.append(f"{number(len(rows) - MOST_MEMBERS)} more not shown")
        heading = tag("h3", f"Cluster {c}", tag("small", "; ".join(lines)))
        listed = table(f"Records of cluster {c}", ["", *story.names], shown, "records")
        cards.append(tag("article", heading, listed, class_="card"))
    told = "Those that hold together by the least come first, then the largest."
    return section("Clusters to look at", tag("p", told), *cards, id_="clusters")


# -- truth ---------------------------------------------------------------------------------------
def _compared(labels: Any, truth: Any) -> Section:
    scores = pairwise_scores(truth, labels)
    rows = [
        ["joined pairs that are right (precision)", f"{scores.precision:.1%}"],
        ["right pairs that are joined (recall)", f"{scores.recall:.1%}"],
        ["F1", f"{scores.f:.3f}"],
    ]
    shown = table("Over all pairs of records", ["", "measured"], rows, "made")
    return section("Compared with the truth", shown, id_="truth")
