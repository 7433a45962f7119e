"""Made-up record sets with a known truth, of shapes other than people's: to judge rules by.

`restaurants`: two guides, few places in both; names gain and lose words, phones change.
`products`: two shops; long names around a model number, lines of models that differ in a digit.
`publications`: one to six citations of a paper; authors shortened, venues by many names, titles
that several papers share. `people`: one to three records each, with slips and gaps.

Each returns columns (dict of (n,) object arrays) and the number of the thing of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

__all__ = [
    "SETS",
    "RecordSet",
    "Rng",
    "one_of",
    "people",
    "products",
    "publications",
    "restaurants",
    "slip",
    "table",
    "word",
]

RecordSet = tuple[dict[str, np.ndarray], np.ndarray]
Rng = np.random.Generator

_SYLLABLES = [c + v for c in (*"bcdfghjklmnprstvw", "br", "st", "tr", "ch")
              for v in ("a", "e", "i", "o", "u", "ar", "el", "in", "on")]  # fmt: skip


def word(rng: Rng, syllables: int) -> str:
    return "".join(rng.choice(_SYLLABLES, syllables))


def one_of(rng: Rng, values: Sequence[str]) -> str:
    return values[int(rng.integers(len(values)))]


def slip(rng: Rng, text: str) -> str:
    """One letter left out, doubled, or exchanged with the next."""
    at = int(rng.integers(max(len(text) - 1, 1)))
    ways = (
        text[:at] + text[at + 1 :],
        text[: at + 1] + text[at:],
        text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
    )
    return ways[int(rng.integers(3))]


def table(rng: Rng, names: Sequence[str], rows: list[list[str]], truth: list[int]) -> RecordSet:
    order = rng.permutation(len(rows))
    table = np.array(rows, dtype=object)[order]
    return {name: table[:, at] for at, name in enumerate(names)}, np.array(truth)[order]


# -- restaurants ---------------------------------------------------------------------------------
_KINDS = ["american", "italian", "french", "chinese", "steakhouses", "seafood", "californian",
          "japanese", "delis", "mexican", "coffee shops", "asian", "continental"]  # fmt: skip
_OTHER_KIND = {"american": "american (new)", "italian": "northern italian", "delis": "coffee shops",
               "french": "french (classic)", "seafood": "american", "asian": "pacific new wave",
               "californian": "american", "chinese": "asian"}  # fmt: skip
_HOUSES = ["cafe", "grill", "restaurant", "bistro", "kitchen", "house", "bar", "inn", "room", ""]
_STREETS = [("st.", "street"), ("ave.", "av."), ("blvd.", "boulevard"), ("rd.", "road")]


def restaurants(seed: int = 0, both: int = 112, single: int = 640) -> RecordSet:
    """Two guides: `both` places are in each, `single` in one. name, address, city, phone, type."""
    rng = np.random.default_rng(seed)
    cities = ["new york", "los angeles", "atlanta", "las vegas", "san francisco"]
    suburbs = {city: [f"{word(rng, 2)} {one_of(rng, ['city', 'hills', 'beach', 'park'])}"
                      for _ in range(5)] for city in cities}  # fmt: skip
    streets = [word(rng, int(rng.integers(2, 4))) for _ in range(150)]
    chains = [f"{word(rng, 2)} {one_of(rng, _HOUSES)}".strip() for _ in range(12)]
    rows, truth = [], []
    for place in range(both + single):
        city = one_of(rng, cities)
        name = one_of(rng, chains) if rng.random() < 0.06 else _restaurant_name(rng, city)
        short, long = _STREETS[int(rng.integers(4))]
        side = one_of(rng, ["", "", "", "e. ", "w. ", "n. ", "s. "])
        where = [str(rng.integers(1, 9999)), side, one_of(rng, streets), short]
        phone = [str(212 + 98 * cities.index(city)), *(str(rng.integers(*at)) for at in
                 ((200, 999), (1000, 9999)))]  # fmt: skip
        kind = one_of(rng, _KINDS)
        first = [name, f"{where[0]} {side}{where[2]} {short}", city, "/".join(phone[:2]) + "-"
                 + phone[2], kind]  # fmt: skip
        rows.append(first)
        truth.append(place)
        if place < both:
            rows.append(_in_other_guide(rng, first, where, long, suburbs[city], phone))
            truth.append(place)
    return table(rng, ["name", "address", "city", "phone", "type"], rows, truth)


def _restaurant_name(rng: Rng, city: str) -> str:
    stem = word(rng, int(rng.integers(2, 4)))
    ways = [
        f"{stem}'s",
        f"{stem} {one_of(rng, _HOUSES)}".strip(),
        f"the {stem} {one_of(rng, _HOUSES)}".strip(),
        f"{one_of(rng, ['cafe', 'chez', 'la', 'il', 'bistro'])} {stem}",
        f"{stem} {word(rng, 2)}'s of {city}",
        f"{stem} & {word(rng, 2)}",
    ]
    return one_of(rng, ways)


def _in_other_guide(
    rng: Rng, first: list[str], where: list[str], long: str, suburbs: list[str], phone: list[str]
) -> list[str]:
    name = first[0]
    chance = rng.random()
    if chance < 0.15:
        name = f"{name} {one_of(rng, ['restaurant', 'cafe', 'bar', 'grill'])}"
    elif chance < 0.3 and len(name.split()) > 1:
        name = " ".join(name.split()[1:] if rng.random() < 0.5 else name.split()[:-1])
    elif chance < 0.36:
        name = f"{name} ({one_of(rng, suburbs)})"
    name = name.replace("'s", "s") if rng.random() < 0.5 else name
    name = name.replace("&", "and") if rng.random() < 0.5 else name
    name = slip(rng, name) if rng.random() < 0.06 else name
    number, side, street, short = where
    address = f"{number} {side if rng.random() < 0.7 else ''}{street} {one_of(rng, [short, long])}"
    if rng.random() < 0.12:
        address += f" {one_of(rng, ['at', 'near', 'between'])} {word(rng, 2)} st."
    if rng.random() < 0.05:
        address = f"{rng.integers(1, 9999)} {word(rng, 3)} {short}"
    city = one_of(rng, suburbs) if rng.random() < 0.2 else first[2]
    if rng.random() < 0.08:
        phone = [*phone[:2], str(rng.integers(1000, 9999))]
    kind = _OTHER_KIND.get(first[4], first[4]) if rng.random() < 0.6 else one_of(rng, _KINDS)
    return [name, address, city, "-".join(phone), kind]


# -- products ------------------------------------------------------------------------------------
_GOODS = ["digital camera", "camcorder", "lcd tv", "headphones", "refrigerator", "dishwasher",
          "cordless phone", "car speakers", "laser printer", "gps navigator", "microwave oven",
          "home theater system"]  # fmt: skip
_COLORS = ["black", "white", "silver", "stainless steel", "red", "blue"]
_EXTRAS = ["with remote", "energy star", "compact", "wireless", "portable", "1080p", "refurbished",
           "high definition", "bluetooth", "series", "pro", "rechargeable"]  # fmt: skip


def products(seed: int = 0, both: int = 400, single: int = 300) -> RecordSet:
    """Two shops. name, description, brand, price: half of the brands and prices are not given."""
    rng = np.random.default_rng(seed)
    brands = [word(rng, 2) for _ in range(40)]
    lines = []
    for _ in range((both + single) // 3):
        letters = "".join(rng.choice(list("ABCDEFGHKLMNPRSTVWX"), int(rng.integers(2, 4))))
        lines.append(
            (one_of(rng, brands), one_of(rng, _GOODS), letters, int(rng.integers(10, 900)))
        )
    rows, truth = [], []
    for thing in range(both + single):
        brand, goods, letters, digits = lines[int(rng.integers(len(lines)))]
        model = f"{letters}{digits + int(rng.integers(9)) * 10}{one_of(rng, ['', 'B', 'S', 'W'])}"
        what = [brand, goods, model, one_of(rng, _COLORS), f"{rng.lognormal(5, 1):.2f}"]
        for shop in (0, 1) if thing < both else (int(rng.integers(2)),):
            rows.append(_offer(rng, what, shop))
            truth.append(thing)
    return table(rng, ["name", "description", "brand", "price"], rows, truth)


def _offer(rng: Rng, what: list[str], shop: int) -> list[str]:
    brand, goods, model, color, price = what
    written = model if rng.random() < 0.6 else f"{model[:2]}-{model[2:]}"
    extras = rng.permutation(_EXTRAS)[: int(rng.integers(1, 4))].tolist()
    if shop == 0:
        name = f"{brand} {one_of(rng, extras)} {goods} - {written}/ {color} finish"
        about = f"{brand} {goods} {model}/ {', '.join(extras)}/ {color} finish"
    else:
        parts = [brand, written, *extras[: int(rng.integers(2))], goods]
        name = " ".join(parts + [color] * (rng.random() < 0.6))
        about = " ".join(extras) if rng.random() < 0.6 else ""
    if rng.random() < 0.08:
        name = name.replace(written, "").strip()
    name = slip(rng, name) if rng.random() < 0.1 else name
    asked = f"{float(price) * rng.uniform(0.85, 1.15):.2f}" if rng.random() < 0.5 else ""
    return [name, about, brand if rng.random() < 0.5 else "", asked]


# -- publications --------------------------------------------------------------------------------
_VENUES = [("sigmod conference", "international conference on management of data"),
           ("vldb", "very large data bases"), ("tods", "acm transactions on database systems"),
           ("icml", "international conference on machine learning"),
           ("kdd", "knowledge discovery and data mining"),
           ("sigmod record", "acm sigmod record")]  # fmt: skip
_TOPICS = ["query optimization", "join processing", "clustering", "data integration", "indexing",
           "transaction management", "data mining", "schema matching", "view maintenance",
           "learning", "stream processing", "spatial databases", "record linkage"]  # fmt: skip
_AIMS = ["efficient", "adaptive", "scalable", "a survey of", "on", "towards", "parallel",
         "incremental", "approximate", "robust", "a framework for"]  # fmt: skip


def publications(seed: int = 0, papers: int = 500) -> RecordSet:
    """One to six citations of a paper. title, authors, venue, year."""
    rng = np.random.default_rng(seed)
    authors = [(word(rng, 2), word(rng, int(rng.integers(2, 4)))) for _ in range(300)]
    rows, truth = [], []
    for paper in range(papers):
        if rng.random() < 0.04:
            title = one_of(rng, ["editor s notes", "guest editorial", "reminiscences on papers"])
        else:
            title = (
                f"{one_of(rng, _AIMS)} {one_of(rng, _TOPICS)} {one_of(rng, ['for', 'in', 'with'])} "
            )
            title += f"{word(rng, int(rng.integers(2, 4)))} {one_of(rng, _TOPICS)}"
        who = [authors[at] for at in rng.choice(300, int(rng.integers(1, 5)), replace=False)]
        venue, year = _VENUES[int(rng.integers(len(_VENUES)))], int(rng.integers(1990, 2006))
        for _ in range(int(rng.choice([1, 2, 2, 3, 4, 6]))):
            rows.append(_citation(rng, title, who, venue, year))
            truth.append(paper)
        if rng.random() < 0.08:  # the same work again, as a journal paper
            again = [*who, authors[int(rng.integers(300))]]
            rows.append(_citation(rng, title, again, _VENUES[2], year + int(rng.integers(1, 4))))
            truth.append(papers + paper)
    return table(rng, ["title", "authors", "venue", "year"], rows, truth)


def _citation(
    rng: Rng, title: str, who: list[tuple[str, str]], venue: tuple[str, str], year: int
) -> list[str]:
    short = rng.random() < 0.5
    if len(who) > 2 and rng.random() < 0.1:
        who = who[:1]
    names = [f"{given[0]}. {last}" if short else f"{given} {last}" for given, last in who]
    title = slip(rng, title) if rng.random() < 0.15 else title
    if rng.random() < 0.06:
        title = " ".join(title.split()[:-1])
    where = one_of(rng, [*venue, ""]) if rng.random() < 0.9 else one_of(rng, _VENUES)[0]
    when = "" if rng.random() < 0.1 else str(year + (rng.random() < 0.05))
    return [title, ", ".join(names), where, when]


# -- people --------------------------------------------------------------------------------------
def people(n: int = 2000, seed: int = 0) -> RecordSet:
    """About n records of n / 2 people, one to three each, with slips and gaps; quickly made."""
    rng = np.random.default_rng(seed)
    syllables = np.array([c + v for c in "bcdfghjklmnprstvw" for v in ("a", "e", "i", "o", "ou")])

    def words(count: int, length: int) -> np.ndarray:
        parts = syllables[rng.integers(syllables.size, size=(count, length))]
        return np.array(["".join(part) for part in parts])

    def drawn(values: np.ndarray, count: int) -> np.ndarray:
        share = 1.0 / np.arange(1, values.size + 1) ** 0.8
        return values[rng.choice(values.size, count, p=share / share.sum())]

    count = n // 2
    streets = drawn(words(max(n // 20, 50), 3), count)
    values = {
        "given": drawn(words(1000, 2), count),
        "surname": drawn(words(max(n // 10, 100), 3), count),
        "street": np.char.add(rng.integers(1, 300, count).astype(str), np.char.add(" ", streets)),
        "town": drawn(words(500, 3), count),
        "born": (rng.integers(1930, 2005, count) * 10000 + rng.integers(1, 13, count) * 100
                 + rng.integers(1, 29, count)).astype(str),
        "phone": rng.integers(10**7, 10**8, count).astype(str),
    }  # fmt: skip
    truth = rng.permutation(np.repeat(np.arange(count), rng.integers(1, 4, count)))
    columns = {}
    for name, column in values.items():
        texts = column[truth].astype(object)
        for row in np.flatnonzero(rng.random(truth.size) < 0.12):
            text, at = texts[row], rng.integers(max(len(texts[row]) - 1, 1))
            texts[row] = text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
        texts[rng.random(truth.size) < 0.08] = ""
        columns[name] = texts
    return columns, truth


SETS: dict[str, Callable[[int], RecordSet]] = {
    "restaurants": lambda seed: restaurants(seed),
    "products": lambda seed: products(seed),
    "publications": lambda seed: publications(seed),
    "people": lambda seed: people(2000, seed),
}
