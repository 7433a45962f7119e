"""Which rows a claim, a figure or a table speaks of, and the paired numbers in them."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

Where = dict[str, Any]


def select(frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    """Rows with these values: a scalar is equal, a list is one of, {from, to} is a range."""
    keep = pd.Series(True, index=frame.index)
    for column, wanted in where.items():
        values = frame[column]
        if isinstance(wanted, dict):
            keep &= values.ge(wanted.get("from", -np.inf)) & values.le(wanted.get("to", np.inf))
        elif isinstance(wanted, list):
            keep &= values.isin(wanted)
        else:
            keep &= values == wanted
    return frame[keep]


def per_draw(frame: pd.DataFrame, metric: str) -> pd.Series:
    """The mean of the metric in each draw: folds, numbers of pairs and sets are averaged."""
    return frame.dropna(subset=[metric]).groupby("draw")[metric].mean()


def split(frame: pd.DataFrame, where: Where, each: list[str]) -> list[tuple[Where, pd.DataFrame]]:
    """The groups a claim is judged on one by one, with their rows.

    Values come from `where` if it lists them (so that what was not run is noticed, as an empty
    group) and from the rows otherwise.
    """
    kept = select(frame, where)
    choices = []
    for column in each:
        wanted = where.get(column)
        listed = wanted if isinstance(wanted, list) else sorted(kept[column].dropna().unique())
        choices.append(listed)
    return [
        (dict(zip(each, values, strict=True)), select(kept, dict(zip(each, values, strict=True))))
        for values in product(*choices)
    ]


class Mean(NamedTuple):
    """A mean over draws with its standard error (NaN for one draw)."""

    mean: float
    error: float
    n: int

    @classmethod
    def of(cls, values: pd.Series) -> Mean:
        """Of one number a draw."""
        n = len(values)
        error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
        return cls(float(values.mean()), error, n)

    def __str__(self) -> str:
        if self.n == 1 and abs(self.mean) >= 2 and self.mean == int(self.mean):
            return f"{self.mean:.0f}"  # a count
        digits = 3 if abs(self.mean) < 10 else 1
        spread = "" if np.isnan(self.error) else f" ± {self.error:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


class Difference(NamedTuple):
    """A − B on the same draws, and the probability of one as large if there were none."""

    a: Mean
    b: Mean
    gap: Mean
    p: float


def paired(a: pd.Series, b: pd.Series, test: str = "t") -> Difference | None:
    """Compare on the draws that both have; None if there are none.

    Two-sided: "t" is the paired t test, "wilcoxon" the signed-rank test.
    """
    both = a.index.intersection(b.index)
    if not len(both):
        return None
    a, b = a[both], b[both]
    return Difference(Mean.of(a), Mean.of(b), Mean.of(a - b), probability(a - b, test))


def probability(gap: pd.Series, test: str) -> float:
    """The probability of a mean as far from 0 if the true one were 0; NaN for one draw."""
    if test not in ("t", "wilcoxon"):
        raise ValueError(f"test={test!r} must be 't' or 'wilcoxon'")
    if len(gap) < 2:
        return np.nan
    if np.allclose(gap, gap.iloc[0], rtol=0, atol=1e-12):  # the tests divide by the spread
        return 1.0 if abs(gap.iloc[0]) < 1e-12 else 0.0
    if test == "t":
        return float(stats.ttest_1samp(gap, 0.0).pvalue)
    return float(stats.wilcoxon(gap).pvalue)
