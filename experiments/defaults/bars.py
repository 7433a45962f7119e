"""What defaults promise, and the cells where they do not keep it.

A cell is a method, a set and a number of pairs a row; its score is the mean ARI over draws.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

import pandas as pd

WORSE = 0.02  # ARI that true pairs may cost, as much as a few draws leave to chance
BELOW = 0.1  # ARI that an estimator which is told K may be below K-Means
FLOOR = "KMeans"
NOT_TOLD_K = ("TVClust",)
KNOWN = Path(__file__).resolve().parent / "known.toml"
WORSE_WITH_PAIRS, BELOW_K_MEANS = "worse than without pairs", "below K-Means"


class Miss(NamedTuple):
    """A promise not kept."""

    bar: str
    method: str
    set: str
    share: float


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean ARI over draws: (set, share) down, methods across."""
    return frame.pivot_table("ari", ["set", "share"], "method", sort=False)


def misses(frame: pd.DataFrame) -> dict[Miss, float]:
    """Every promise not kept, and by how much ARI."""
    found: dict[Miss, float] = {}
    table = means(frame)
    for (name, share), row in table.iterrows():
        for method in row.index:
            lost = table.loc[(name, 0.0), method] - row[method]
            if lost > WORSE:
                found[Miss(WORSE_WITH_PAIRS, method, name, share)] = lost
            below = row[FLOOR] - row[method]
            if method not in NOT_TOLD_K and below > BELOW:
                found[Miss(BELOW_K_MEANS, method, name, share)] = below
    return found


def known() -> dict[Miss, str]:
    """The misses that are known, each with its cause."""
    entries = tomllib.loads(KNOWN.read_text(encoding="utf-8")).get("miss", [])
    return {
        Miss(entry["bar"], entry["method"], name, share): entry["cause"]
        for entry in entries
        for name, shares in entry["cells"].items()
        for share in shares
    }
