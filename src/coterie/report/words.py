"""The summary: what was found, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coterie.report.clusters import Cluster, Typical
from coterie.report.facts import Facts
from coterie.report.feature_words import whole
from coterie.report.shown import on_scale

__all__ = ["count", "listed", "percent", "said", "standing_out", "summary"]

_STANDS_OUT = 0.5  # standard deviations: less is not worth a word in the summary
_MOST_NAMED = 5  # clusters described in the summary


def count(n: int, one: str, many: str | None = None) -> str:
    """As in "1 row" and "1,234 rows"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share for people: never 0% or 100% of something that is not."""
    if 0 < share < 0.01:
        return "under 1%"
    if 0.99 < share < 1:
        return "over 99%"
    return f"{share:.0%}"


def listed(parts: Sequence[str]) -> str:
    """As in "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def summary(facts: Facts) -> list[str]:
    """Paragraphs: what was found, and how far to trust it."""
    found = [
        [_what(facts), _sizes(facts)],
        [_pairs(facts)],
        [_fit(facts), _truth(facts)],
    ]
    return [" ".join(filter(None, sentences)) for sentences in found if any(sentences)]


def _what(facts: Facts) -> str:
    method = type(facts.model).__name__
    words = facts.sparse and all(":" in name for name in facts.names)
    rows = f"{count(facts.n, 'row')} of {count(len(facts.names), 'word' if words else 'column')}"
    where = "are in one cluster" if facts.n > 1 else "is in one cluster"
    if len(facts.clusters) > 1:
        where = f"were divided into {len(facts.clusters)} clusters"
    return f"{rows} {where} by {method}."


def _pairs(facts: Facts) -> str:
    m, broken = facts.constraints.n_pairs, int(facts.broken.sum())
    if not facts.all_pairs_known:
        told = f"{count(broken, 'pair')} that it was told about" if broken else "No pair it knew of"
        return (
            f"{told} {'were' if broken > 1 else 'was'} broken. Which pairs it knew is not said "
            "here: they were not handed to this report."
        )
    if not m:
        return "No pairs were given: the clusters rest on the data alone."
    must = facts.constraints.kind > 0
    told = f"It was told about {count(m, 'pair')} ({_kinds(must)})"
    if not broken:
        return f"{told} and kept {'it' if m == 1 else 'all of them'}."
    return (
        f"{told}; {count(m - broken, 'pair')} {'was' if m - broken == 1 else 'were'} kept and "
        f"{broken:,} ({percent(broken / m)}) broken: {_kinds(must[facts.broken])}."
    )


def _kinds(must: NDArray[np.bool_]) -> str:
    """How many of some pairs are must-links (p,) and cannot-links."""
    both = ("must-link", int(must.sum())), ("cannot-link", int((~must).sum()))
    return listed([count(n, word) for word, n in both if n])


def _sizes(facts: Facts) -> str:
    if len(facts.clusters) < 2:
        return ""
    sizes = np.array([cluster.size for cluster in facts.clusters])
    if sizes.max() == sizes.min():
        return f"Every cluster has {count(int(sizes[0]), 'row')}."
    large, small = (facts.clusters[int(k)] for k in (sizes.argmax(), sizes.argmin()))
    return (
        f"The largest cluster, {large.name}, has {count(large.size, 'row')} "
        f"({percent(large.share)}); the smallest, {small.name}, has {small.size:,} "
        f"({percent(small.share)})."
    )


def _fit(facts: Facts) -> str:
    rounds = getattr(facts.model, "n_iter_", None)
    converged = getattr(facts.model, "converged_", None)
    if rounds is None:
        return ""
    after = count(int(rounds), "iteration")
    if converged is None:
        return f"The fit took {after}."
    if converged:
        return f"The fit came to rest after {after}."
    return f"The fit was stopped after {after} before it came to rest: a longer one may do better."


def _truth(facts: Facts) -> str:
    if facts.truth is None:
        return ""
    return (
        "Compared with the true classes, the adjusted Rand index is "
        f"{facts.truth.ari:.3f} and the normalised mutual information {facts.truth.nmi:.3f} "
        "(1 is perfect; 0 is as good as chance)."
    )


def standing_out(facts: Facts) -> list[str]:
    """One line for each of the largest clusters that differ clearly from all rows."""
    if len(facts.clusters) < 2:
        return []
    largest = sorted(facts.clusters, key=lambda cluster: -cluster.size)[:_MOST_NAMED]
    return [
        f"Cluster {cluster.name} stands out by {words}."
        for cluster in sorted(largest, key=lambda cluster: cluster.index)
        if (words := _typical(cluster, facts))
    ]


def _typical(cluster: Cluster, facts: Facts) -> str:
    """Its two or three clearest features, or nothing if it has none."""
    clear = [t for t in cluster.typical if abs(t.difference) >= _STANDS_OUT][:2]
    few = cluster.typical[:3] if facts.sparse else clear
    return listed([said(typical, facts.kinds[typical.column]) for typical in few])


def said(typical: Typical, kind: str) -> str:
    """A feature by which a cluster differs, of a column of this kind, and how much."""
    here, overall = (on_scale(v, typical.spread) for v in (typical.here, typical.overall))
    high, shown = typical.difference > 0, f"({here}, overall {overall})"
    return whole(kind, typical.name, high, typical.here, typical.overall, shown)
