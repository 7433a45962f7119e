"""Partitions by enumeration, and record sets whose truth is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

CONSONANTS = [
    "b",
    "c",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "w",
    "st",
    "tr",
    "br",
    "ch",
]
VOWELS = ["a", "e", "i", "o", "u", "ai", "ou", "ea"]


def partitions(n: int) -> Iterator[np.ndarray]:
    """Every partition of n rows, as labels in the order of first rows."""

    def grow(labels: list[int], used: int) -> Iterator[np.ndarray]:
        if len(labels) == n:
            yield np.array(labels)
            return
        for label in range(used + 1):
            yield from grow([*labels, label], max(used, label + 1))

    return grow([], 0)


def worth(labels, pairs, weight, penalty) -> float:
    """Σ weight of listed pairs together − penalty for each unlisted pair together."""
    listed = {tuple(pair): value for pair, value in zip(pairs.tolist(), weight, strict=True)}
    return sum(
        listed.get((i, j), -penalty)
        for i in range(len(labels))
        for j in range(i + 1, len(labels))
        if labels[i] == labels[j]
    )


def contracted(weight) -> np.ndarray:
    """Labels (n,) by joining the two clusters worth most together while that is worth something."""
    clusters = [[i] for i in range(len(weight))]
    while len(clusters) > 1:
        gain, a, b = max(
            (weight[np.ix_(one, other)].sum(), a, b)
            for a, one in enumerate(clusters)
            for b, other in enumerate(clusters[:a])
        )
        if gain <= 0:
            break
        clusters[b] += clusters.pop(a)
    labels = np.empty(len(weight), dtype=np.int64)
    for number, members in enumerate(clusters):
        labels[members] = number
    return labels


def best_worth(weight) -> float:
    """The largest Σ weight within clusters over all partitions, by sets of rows: Θ(3ⁿ)."""
    n = len(weight)
    inside = np.zeros(2**n)
    for rows in range(1, 2**n):
        first = rows.bit_length() - 1
        rest = rows ^ (1 << first)
        inside[rows] = inside[rest] + sum(weight[first, j] for j in range(first) if rest >> j & 1)
    best = np.zeros(2**n)
    for rows in range(1, 2**n):
        last = 1 << (rows.bit_length() - 1)
        part = others = rows ^ last
        best[rows] = inside[last] + best[others]
        while part:
            best[rows] = max(best[rows], inside[part | last] + best[others ^ part])
            part = (part - 1) & others
    return float(best[-1])


def pairwise(labels, truth) -> tuple[float, float, float]:
    """Precision, recall and F1 over all pairs of rows."""

    def count(keys) -> int:
        sizes = np.unique(keys, return_counts=True, axis=0)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    both = count(np.column_stack([labels, truth]))
    joined, true = count(labels), count(truth)
    return both / max(joined, 1), both / max(true, 1), 2 * both / max(joined + true, 1)


def _word(rng, syllables: int) -> str:
    return "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(syllables))


def _slip(rng, text: str) -> str:
    """One letter left out, doubled, changed or exchanged with the next."""
    at = int(rng.integers(max(len(text) - 1, 1)))
    return (
        text[:at] + text[at + 1 :],
        text[:at] + text[at : at + 1] + text[at:],
        text[:at] + "x" + text[at + 1 :],
        text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
    )[rng.integers(4)]


def people(n_people=300, seed=0, households=0.0, slips=0.15, gaps=0.1):
    """Columns of records of made-up people, one to four each, and who each is about.

    A share of `households` of the people live by threes: same surname, street and town.
    """
    rng = np.random.default_rng(seed)
    given = [_word(rng, 2) for _ in range(120)]
    surnames = [_word(rng, 3) for _ in range(400)]
    streets = [f"{_word(rng, 3)} street" for _ in range(400)]
    towns = [_word(rng, 3) for _ in range(40)]
    rows, truth = [], []
    home: list[str] = []
    for person in range(n_people):
        if not home or person >= households * n_people or person % 3 == 0:
            home = [rng.choice(surnames), f"{rng.integers(1, 200)} {rng.choice(streets)}"]
            home.append(rng.choice(towns))
        born = f"{rng.integers(1930, 2005)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        who = [rng.choice(given), *home, born, f"555 {rng.integers(10_000, 99_999)}"]
        for _ in range(int(rng.choice([1, 1, 2, 3, 4]))):
            record = [_slip(rng, value) if rng.random() < slips else value for value in who]
            rows.append(["" if rng.random() < gaps else value for value in record])
            truth.append(person)
    order = rng.permutation(len(rows))
    names = ["given", "surname", "street", "town", "born", "phone"]
    table = np.array(rows, dtype=object)[order]
    columns = {name: table[:, at] for at, name in enumerate(names)}
    return columns, np.array(truth)[order]
