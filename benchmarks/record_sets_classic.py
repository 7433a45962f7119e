"""Made-up record sets in the manner of the sets that are usually measured with.

`guides`: two restaurant guides, 112 places in both and 640 in one. Two notations of phones, streets
and numbered streets ("3rd", "third"), suburbs for cities, kinds of kitchen by two vocabularies;
rooms of a hotel, and branches of a chain. `shops`: two shops, 1,100 things in both of about 2,200
records; names around a model code, long descriptions, prices that are missing or another one.
`bibliography`: 1,900 citations of 200 works, up to 60 of one; authors and venues in many spellings,
titles with slips, years and pages that are off or missing. `rooms`: rooms of hotels and shops of
malls only, which share address, city and often the phone.

Each returns columns (dict of (n,) object arrays) and the number of the thing of every record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from record_sets import RecordSet, Rng, one_of, slip, table, word

__all__ = ["CLASSIC", "bibliography", "guides", "rooms", "shops"]

_CITIES = {
    "new york": ("212", ["new york city", "brooklyn", "queens"]),
    "los angeles": ("310", ["west hollywood", "santa monica", "beverly hills", "studio city"]),
    "atlanta": ("404", ["decatur", "marietta", "roswell"]),
    "las vegas": ("702", ["henderson"]),
    "san francisco": ("415", ["sausalito", "mill valley"]),
}
_ENDINGS = [("st.", "street"), ("ave.", "av."), ("blvd.", "blv."), ("rd.", "road"), ("dr.", "dr.")]
_NUMBERED = [("3rd", "third"), ("5th", "fifth"), ("8th", "eighth"), ("46th", "46th"), ("2nd", "2d")]
_KITCHENS = [("american", "american (new)"), ("italian", "northern italian"), ("french", "french"),
             ("french", "french (classic)"), ("american", "steakhouses"), ("asian", "chinese"),
             ("delis", "delicatessen"), ("american", "californian"), ("seafood", "seafood"),
             ("american", "coffee shops"), ("mexican", "tex-mex"), ("asian", "thai"),
             ("continental", "continental"), ("southern", "southern/soul")]  # fmt: skip
_HOUSES = ["cafe", "grill", "restaurant", "bistro", "kitchen", "bar & grill", "house", "inn"]
_ROOMS = ["cafe", "dining room", "restaurant", "bar", "grill", "lobby lounge", "terrace"]


# -- restaurants ---------------------------------------------------------------------------------
def guides(seed: int = 0, both: int = 112, single: int = 640) -> RecordSet:
    """name, address, city, phone, type."""
    rng = np.random.default_rng(seed)
    streets = [word(rng, int(rng.integers(2, 4))) for _ in range(90)]
    stems = [word(rng, int(rng.integers(1, 4))) for _ in range(500)]
    hotels = [_site(rng, streets) for _ in range(12)]
    chains = [_named(rng, stems) for _ in range(8)]
    rows, truth = [], []
    for place in range(both + single):
        site, name = _site(rng, streets), _named(rng, stems)
        chance = rng.random()
        if chance < 0.04:
            at = int(rng.integers(len(hotels)))
            site, name = hotels[at], f"{stems[at]} hotel {one_of(rng, _ROOMS)}"
            if rng.random() < 0.5:
                site = (*site[:3], [*site[3][:2], str(rng.integers(1000, 9999))])
        elif chance < 0.07:
            name = one_of(rng, chains)
        kinds = _KITCHENS[int(rng.integers(len(_KITCHENS)))]
        for guide in (0, 1) if place < both else (int(rng.random() < 0.65),):
            rows.append(_listing(rng, guide, name, site, kinds[guide]))
            truth.append(place)
    return table(rng, ["name", "address", "city", "phone", "type"], rows, truth)


_Site = tuple[str, list[str], tuple[str, str], list[str]]


def _site(rng: Rng, streets: list[str]) -> _Site:
    """City, parts of the address, the two spellings of the street, and parts of the phone."""
    city = one_of(rng, list(_CITIES))
    side = one_of(rng, ["", "", "", "e. ", "w. ", "n. ", "s. "])
    numbered = rng.random() < 0.2
    street = _NUMBERED[int(rng.integers(5))] if numbered else (one_of(rng, streets),) * 2
    ending = _ENDINGS[int(rng.integers(5))]
    phone = [_CITIES[city][0], str(rng.integers(200, 999)), str(rng.integers(1000, 9999))]
    spelled = (f"{street[0]} {ending[0]}", f"{street[1]} {one_of(rng, list(ending))}")
    return city, [str(rng.integers(1, 9999)), side], spelled, phone


def _named(rng: Rng, stems: list[str]) -> str:
    stem = one_of(rng, stems)
    ways = [f"{stem}'s", f"the {stem}", f"{stem} {one_of(rng, _HOUSES)}", f"chez {stem}", stem,
            f"la {stem}", f"cafe {stem}", f"{stem} {one_of(rng, stems)}"]  # fmt: skip
    return one_of(rng, ways)


def _listing(rng: Rng, guide: int, name: str, site: _Site, kind: str) -> list[str]:
    city, (number, side), spelled, phone = site
    if guide:
        chance = rng.random()
        words = name.split()
        if chance < 0.05 and words[0] in ("the", "la", "cafe", "chez"):
            name = f"{' '.join(words[1:])}, {words[0]}"
        elif chance < 0.12:
            name = f"{name} ({one_of(rng, [city, *_CITIES[city][1]])})"
        elif chance < 0.18:
            name = f"{name} {one_of(rng, _HOUSES)}"
        elif chance < 0.22 and len(words) > 1:
            name = " ".join(words[:-1])
        name = slip(rng, name) if rng.random() < 0.04 else name
        side = side if rng.random() < 0.8 else ""
        city = one_of(rng, _CITIES[city][1]) if rng.random() < 0.15 else city
        if rng.random() < 0.03:
            phone = [phone[0], str(rng.integers(200, 999)), str(rng.integers(1000, 9999))]
        if rng.random() < 0.03:
            number = str(rng.integers(1, 9999))
    where = f"{number} {side}{spelled[guide]}"
    if guide and rng.random() < 0.1:
        where += f" {one_of(rng, ['at', 'near', 'off', 'between'])} {word(rng, 2)} st."
    return [name, where, city, f"{phone[0]}{'-' if guide else '/'}{phone[1]}-{phone[2]}", kind]


def rooms(seed: int = 0, sites: int = 60) -> RecordSet:
    """Hotels and malls: two to eight places each, a third in both guides. As `guides`."""
    rng = np.random.default_rng(seed)
    streets = [word(rng, 3) for _ in range(60)]
    stems = [word(rng, int(rng.integers(2, 4))) for _ in range(300)]
    rows, truth = [], []
    place = 0
    for _ in range(sites):
        site, stem = _site(rng, streets), one_of(rng, stems)
        hotel = rng.random() < 0.6
        for _ in range(int(rng.integers(2, 9))):
            name = f"{stem} {one_of(rng, _ROOMS)}" if hotel else _named(rng, stems)
            phone = site[3] if hotel else [*site[3][:2], str(rng.integers(1000, 9999))]
            kinds = _KITCHENS[int(rng.integers(len(_KITCHENS)))]
            for guide in (0, 1) if rng.random() < 0.35 else (int(rng.integers(2)),):
                rows.append(_listing(rng, guide, name, (*site[:3], phone), kinds[guide]))
                truth.append(place)
            place += 1
    return table(rng, ["name", "address", "city", "phone", "type"], rows, truth)


# -- products ------------------------------------------------------------------------------------
_GOODS = ["digital camera", "lcd hdtv", "headphones", "refrigerator", "gas range", "home theater",
          "cordless phone", "car speaker", "laser printer", "gps navigator", "microwave oven",
          "washer", "air conditioner", "tv mount", "camcorder battery",
          "toner cartridge"]  # fmt: skip
_SAID = ["energy star", "stainless steel", "wireless", "portable", "1080p", "rechargeable",
         "12x zoom", "3 inch screen", "dolby digital", "2.4 ghz", "built-in", "compact",
         "series", "usb 2.0", "full hd", "350 watts", "tilt", "dual voltage", "ice maker",
         "touch screen"]  # fmt: skip
_COLORS = ["black", "white", "silver", "stainless steel", "red", "blue"]


def shops(seed: int = 0, both: int = 500, single: int = 180) -> RecordSet:
    """name, description, price."""
    rng = np.random.default_rng(seed)
    brands = [word(rng, int(rng.integers(1, 4))) for _ in range(45)]
    lines = []
    for _ in range((both + single) // 4):
        letters = "".join(rng.choice(list("ABCDEFHKLMNPRSTVWX"), int(rng.integers(1, 4))))
        lines.append((one_of(rng, brands), one_of(rng, _GOODS), letters, rng.integers(10, 900)))
    rows, truth = [], []
    for thing in range(both + single):
        brand, goods, letters, digits = lines[int(rng.integers(len(lines)))]
        model = (
            f"{letters}{int(digits) + 5 * int(rng.integers(20))}{one_of(rng, ['', '', 'B', 'S'])}"
        )
        said = rng.permutation(_SAID)[:6].tolist()
        color, price = one_of(rng, _COLORS), float(rng.lognormal(5, 1))
        for shop in (0, 1) if thing < both else (int(rng.integers(2)),):
            what = [brand, goods, model, color]
            rows.append(_offer(rng, shop, what, said, price))
            truth.append(thing)
    return table(rng, ["name", "description", "price"], rows, truth)


def _offer(rng: Rng, shop: int, what: list[str], said: list[str], price: float) -> list[str]:
    brand, goods, model, color = what
    some = rng.permutation(said)[: int(rng.integers(1, 6))].tolist()
    if shop == 0:
        name = f"{brand} {some[0]} {color} {goods} - {model}"
        about = f"{brand} {goods} - {model}/ {'/ '.join(some)}/ {color} finish"
        cost = "" if rng.random() < 0.6 else f"${price:.2f}"
    else:
        written = f"{model[:2]}-{model[2:]}" if rng.random() < 0.25 else model
        head = [brand.upper(), written] if rng.random() < 0.8 else [brand.upper()]
        name = " ".join([*head, *some[: int(rng.integers(3))], goods])
        about = " ".join(some) if rng.random() < 0.6 else ""
        cost = "" if rng.random() < 0.4 else f"${price * rng.choice([1, 1, 0.9, 0.8]):.2f}"
    name = slip(rng, name) if rng.random() < 0.06 else name
    return [name, about, cost]


# -- publications --------------------------------------------------------------------------------
_VENUES = [["in proceedings of the tenth international conference on machine learning",
            "proc. 10th int. conf. machine learning", "machine learning: ml93", "icml-93"],
           ["machine learning", "machine learning journal", "mach. learn."],
           ["in advances in neural information processing systems", "nips 6", "nips",
            "advances in neural information processing systems 6"],
           ["proceedings of the annual acm symposium on theory of computing", "stoc", "acm stoc"],
           ["artificial intelligence", "artif. intell.", "artificial intelligence journal"],
           ["journal of the acm", "j. acm", "jacm"],
           ["technical report", "tech. rep.", "unpublished manuscript"]]  # fmt: skip
_HEADS = ["learning", "on the complexity of", "a theory of", "boosting", "experiments with",
          "efficient", "an analysis of", "inferring", "irrelevant features and",
          "a study of"]  # fmt: skip
_TOPICS = ["decision trees", "neural networks", "concept drift", "weak hypotheses",
           "feature selection",
           "reinforcement learning", "bayesian networks", "finite automata", "noisy examples",
           "genetic programming", "instance-based methods", "hidden markov models"]  # fmt: skip


def bibliography(seed: int = 0, works: int = 200) -> RecordSet:
    """author, title, venue, date, pages."""
    rng = np.random.default_rng(seed)
    people = [(word(rng, 2), word(rng, int(rng.integers(2, 4)))) for _ in range(150)]
    rows, truth = [], []
    for work in range(works):
        title = f"{one_of(rng, _HEADS)} {one_of(rng, _TOPICS)}"
        title += f" {one_of(rng, ['with', 'for', 'by', 'using'])} {one_of(rng, _TOPICS)}"
        who = [people[at] for at in rng.choice(150, int(rng.integers(1, 4)), replace=False)]
        venue, year = _VENUES[int(rng.integers(7))], int(rng.integers(1985, 1998))
        first = int(rng.integers(1, 500))
        pages = first, first + int(rng.integers(5, 40))
        for _ in range(min(int(rng.geometric(0.12)), 60)):
            rows.append(_reference(rng, who, title, venue, year, pages))
            truth.append(work)
    return table(rng, ["author", "title", "venue", "date", "pages"], rows, truth)


def _reference(
    rng: Rng,
    who: list[tuple[str, str]],
    title: str,
    venue: list[str],
    year: int,
    pages: tuple[int, int],
) -> list[str]:
    way = int(rng.integers(4))
    forms = ["{g} {s}", "{i}. {s}", "{s}, {i}.", "{s} {i}"]
    names = [forms[way].format(g=g, s=s, i=g[0]) for g, s in who]
    if len(names) > 2 and rng.random() < 0.1:
        names = [names[0], "et al."]
    names = [slip(rng, name) if rng.random() < 0.03 else name for name in names]
    if rng.random() < 0.06:
        title = " ".join(title.split()[: -int(rng.integers(1, 3))])
    title = slip(rng, title) if rng.random() < 0.1 else title
    where = "" if rng.random() < 0.1 else one_of(rng, venue)
    when = "" if rng.random() < 0.25 else str(year + (rng.random() < 0.06))
    joint = one_of(rng, ["-", "--", " to "])
    at = "" if rng.random() < 0.4 else f"pp. {pages[0]}{joint}{pages[1]}"
    return [f" {one_of(rng, ['and', '&'])} ".join(names), title, where, when, at]


CLASSIC: dict[str, Callable[[int], RecordSet]] = {
    "guides": lambda seed: guides(seed),
    "rooms": lambda seed: rooms(seed),
    "shops": lambda seed: shops(seed),
    "bibliography": lambda seed: bibliography(seed),
}
