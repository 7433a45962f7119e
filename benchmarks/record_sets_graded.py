"""Made-up record sets by how hard they are, 0 (easy) to 3, and sets of few fields.

`eateries`: two guides with 112 places in both and 640 in one. Names are made of words that many
places share; there are chains (one name, many addresses) and hotels (one address and phone, many
rooms). With the level grow the share of names that gain, lose and exchange words, of addresses and
phones that moved, of phones that are missing, and of chains and hotels.
`titles`: citations by title and authors alone. `offers`: what two shops sell, name and price alone.
`members`: one name in one column, a town and a year of birth; initials, nicknames, moves.

Each returns columns (dict of (n,) object arrays) and the number of the thing of every record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from record_sets import RecordSet, Rng, one_of, slip, table, word

__all__ = ["GRADED", "eateries", "members", "offers", "titles"]

_FIRST = ["cafe", "chez", "la", "le", "il", "the", "restaurant", "trattoria", "hotel", "casa",
          "bistro", "little", "golden", "royal", "blue", "old"]  # fmt: skip
_LAST = ["grill", "cafe", "kitchen", "house", "room", "garden", "palace", "bar & grill", "deli",
         "steak house", "diner", "express", "pizza", "brasserie", "inn", "noodle shop"]  # fmt: skip
_KINDS = ["american", "italian", "french", "chinese", "seafood", "californian", "japanese",
          "mexican", "delis", "continental", "steakhouses", "asian", "southern"]  # fmt: skip
_FINER = ["{} (new)", "{} (classic)", "northern {}", "{} bistro", "pacific new wave", "{}"]
_STREET = [("st.", "street"), ("ave.", "av."), ("blvd.", "blv."), ("rd.", "road"), ("dr.", "drive")]
_ROOMS = ["dining room", "cafe", "bar", "grill", "terrace", "restaurant", "lounge"]


class _Town:
    """Streets, suburbs and words that the places of a city share."""

    def __init__(self, rng: Rng, name: str, code: int) -> None:
        self.name, self.code = name, code
        self.streets = [word(rng, int(rng.integers(2, 4))) for _ in range(25)]
        self.suburbs = [f"{word(rng, 2)} {one_of(rng, ['city', 'hills', 'park'])}" for _ in "1234"]

    def address(self, rng: Rng) -> list[str]:
        side = one_of(rng, ["", "", "", "e. ", "w. ", "n. ", "s. "])
        kind = int(rng.integers(len(_STREET)))
        return [str(rng.integers(1, 999)), side, one_of(rng, self.streets), str(kind)]

    def phone(self, rng: Rng) -> list[str]:
        return [str(self.code), str(200 + rng.integers(40)), str(rng.integers(1000, 9999))]


def eateries(seed: int = 0, level: int = 1, both: int = 112, single: int = 640) -> RecordSet:
    """Two guides. name, address, city, phone, type."""
    rng = np.random.default_rng(seed)
    towns = [
        _Town(rng, name, code)
        for name, code in zip(
            ["new york", "los angeles", "atlanta", "las vegas", "san francisco"],
            (212, 310, 404, 702, 415),
            strict=True,
        )
    ]
    names = [word(rng, int(rng.integers(1, 4))) for _ in range(400)]
    chains = [_name(rng, names) for _ in range(10)]
    rows, truth = [], []
    hotel: tuple[str, list[str], list[str], _Town] | None = None
    for place in rng.permutation(both + single).tolist():
        town = towns[int(rng.integers(5))]
        name, address, phone = _name(rng, names), town.address(rng), town.phone(rng)
        chance = rng.random()
        if chance < 0.03 * level:
            name = one_of(rng, chains)
        elif chance < 0.05 * level:
            if hotel is None or rng.random() < 0.5:
                hotel = one_of(rng, names) + " hotel", address, phone, town
            stem, address, phone, town = hotel
            name = f"{stem} {one_of(rng, _ROOMS)}"
            if rng.random() < 0.5:
                phone = [*phone[:2], str(rng.integers(1000, 9999))]
        kind = one_of(rng, _KINDS)
        guides = (0, 1) if place < both else (int(rng.random() < 0.35),)
        for guide in guides:
            rows.append(_entry(rng, level, guide, [name, kind], address, phone, town))
            truth.append(place)
    return table(rng, ["name", "address", "city", "phone", "type"], rows, truth)


def _name(rng: Rng, names: list[str]) -> str:
    ways = [
        f"{one_of(rng, _FIRST)} {one_of(rng, names)}",
        f"{one_of(rng, names)} {one_of(rng, _LAST)}",
        f"{one_of(rng, names)}'s",
        f"{one_of(rng, _FIRST)} {one_of(rng, names)} {one_of(rng, _LAST)}",
        f"{one_of(rng, names)} {one_of(rng, names)}",
        one_of(rng, names),
    ]
    return one_of(rng, ways)


def _entry(
    rng: Rng,
    level: int,
    guide: int,
    named: list[str],
    address: list[str],
    phone: list[str],
    town: _Town,
) -> list[str]:
    name, kind = named
    number, side, street, which = address
    short, long = _STREET[int(which)]
    city = town.name
    mark = "/"
    if guide:
        mark = "-"
        name = _renamed(rng, level, name, town)
        short = one_of(rng, [short, short, long])
        side = side if rng.random() < 0.8 else ""
        city = one_of(rng, town.suburbs) if rng.random() < 0.1 + 0.08 * level else city
        if rng.random() < 0.75:
            kind = one_of(rng, _FINER).format(one_of(rng, [kind, kind, one_of(rng, _KINDS)]))
        if rng.random() < 0.02 * level:
            number, street = str(rng.integers(1, 999)), one_of(rng, town.streets)
        if rng.random() < 0.04 * level:
            phone = town.phone(rng)
    where = f"{number} {side}{street} {short}"
    if guide and rng.random() < 0.06 * level:
        where += f" {one_of(rng, ['at', 'near', 'between'])} {one_of(rng, town.streets)} st."
    called = f"{phone[0]}{mark}{phone[1]}-{phone[2]}"
    return [name, where, city, "" if rng.random() < 0.05 * level else called, kind]


def _renamed(rng: Rng, level: int, name: str, town: _Town) -> str:
    words = name.split()
    if rng.random() < 0.08 * level:
        way = int(rng.integers(5))
        if way == 0:
            name = f"{name} {one_of(rng, _LAST)}"
        elif way == 1 and len(words) > 1:
            name = " ".join(words[1:])
        elif way == 2 and len(words) > 1:
            name = " ".join(words[:-1])
        elif way == 3 and len(words) > 1:
            name = f"{' '.join(words[1:])}, {words[0]}"
        else:
            name = f"{name} ({one_of(rng, [town.name, *town.suburbs])})"
    name = name.replace("'s", "s").replace("&", "and") if rng.random() < 0.3 else name
    return slip(rng, name) if rng.random() < 0.03 * (1 + level) else name


# -- few fields ----------------------------------------------------------------------------------
_TOPICS = ["query optimization", "join processing", "clustering", "data integration", "indexing",
           "transactions", "data mining", "schema matching", "view maintenance", "learning",
           "streams", "spatial databases", "record linkage", "concurrency control"]  # fmt: skip


def titles(seed: int = 0, papers: int = 500) -> RecordSet:
    """One to five citations of a paper. title, authors."""
    rng = np.random.default_rng(seed)
    people = [(word(rng, 2), word(rng, int(rng.integers(2, 4)))) for _ in range(250)]
    rows, truth = [], []
    for paper in range(papers):
        title = f"{one_of(rng, ['efficient', 'adaptive', 'on', 'robust', 'a survey of'])} "
        title += f"{one_of(rng, _TOPICS)} {one_of(rng, ['for', 'in', 'with'])} "
        title += one_of(rng, _TOPICS) if rng.random() < 0.5 else word(rng, 3)
        who = [people[at] for at in rng.choice(250, int(rng.integers(1, 4)), replace=False)]
        for _ in range(int(rng.choice([1, 1, 2, 2, 3, 5]))):
            short = rng.random() < 0.5
            some = who[: int(rng.integers(1, len(who) + 1))] if rng.random() < 0.15 else who
            authors = ", ".join(f"{a[0]}. {b}" if short else f"{a} {b}" for a, b in some)
            written = slip(rng, title) if rng.random() < 0.2 else title
            if rng.random() < 0.1:
                written = " ".join(written.split()[: -int(rng.integers(1, 3))])
            rows.append([written, "" if rng.random() < 0.05 else authors])
            truth.append(paper)
    return table(rng, ["title", "authors"], rows, truth)


def offers(seed: int = 0, both: int = 350, single: int = 350) -> RecordSet:
    """Two shops. name, price."""
    rng = np.random.default_rng(seed)
    makers = [word(rng, 2) for _ in range(30)]
    goods = [f"{word(rng, 2)} {word(rng, 2)}" for _ in range(25)]
    extras = [word(rng, 2) for _ in range(30)]
    rows, truth = [], []
    for thing in range(both + single):
        maker, what = one_of(rng, makers), one_of(rng, goods)
        model = f"{word(rng, 1)}{rng.integers(10, 99) * 10}"
        price = float(rng.lognormal(4, 1))
        for shop in (0, 1) if thing < both else (int(rng.integers(2)),):
            parts = [maker, what, model] if shop == 0 else [maker, model, what]
            parts += rng.choice(extras, int(rng.integers(3))).tolist()
            parts = [part for part in parts if part is not maker or rng.random() < 0.85]
            name = " ".join(slip(rng, part) if rng.random() < 0.04 else part for part in parts)
            asked = f"{price * rng.uniform(0.9, 1.1):.2f}" if rng.random() < 0.8 else ""
            rows.append([name, asked])
            truth.append(thing)
    return table(rng, ["name", "price"], rows, truth)


def members(seed: int = 0, people: int = 700) -> RecordSet:
    """One to four records of a person. name, town, born (a year)."""
    rng = np.random.default_rng(seed)
    given = [word(rng, 2) for _ in range(120)]
    surnames = [word(rng, int(rng.integers(2, 4))) for _ in range(300)]
    towns = [word(rng, 3) for _ in range(40)]
    rows, truth = [], []
    for person in range(people):
        first, last = one_of(rng, given), one_of(rng, surnames)
        town, born = one_of(rng, towns), int(rng.integers(1930, 2005))
        for _ in range(int(rng.integers(1, 5))):
            call = f"{first[0]}." if rng.random() < 0.12 else first
            name = f"{call} {last}" if rng.random() < 0.8 else f"{last}, {call}"
            name = slip(rng, name) if rng.random() < 0.12 else name
            where = one_of(rng, towns) if rng.random() < 0.08 else town
            year = "" if rng.random() < 0.1 else str(born + (rng.random() < 0.04))
            rows.append([name, "" if rng.random() < 0.1 else where, year])
            truth.append(person)
    return table(rng, ["name", "town", "born"], rows, truth)


GRADED: dict[str, Callable[[int], RecordSet]] = {
    **{f"eateries{level}": lambda seed, level=level: eateries(seed, level) for level in range(4)},
    "titles": lambda seed: titles(seed),
    "offers": lambda seed: offers(seed),
    "members": lambda seed: members(seed),
}
