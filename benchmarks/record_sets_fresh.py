"""Made-up record sets that no rule was chosen with: to look at after a change was decided.

`software`: titles of two download shops that write little alike: versions and editions, publishers
missing, licences and platforms in the title, prices of another season. `listings`: sellers of one
market, models written three ways, and parts made for a model that name it. `drugs`: packs of
medicines in three lists; one name in strengths and pack sizes, makers shortened, capitals.
`works_cited`: citations in one column of free text, one to eight of a work, and its year.
`clinic`: patients with maiden names, twins, house moves, transposed given and family names.

Each returns columns (dict of (n,) object arrays) and the number of the thing of every record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from record_sets import RecordSet, Rng, one_of, slip, table, word

__all__ = ["FRESH", "clinic", "drugs", "listings", "software", "works_cited"]

# -- software ------------------------------------------------------------------------------------
_TASKS = ["antivirus", "photo editor", "accounting", "language course", "office suite", "backup",
          "video studio", "typing tutor", "encyclopedia", "landscape design",
          "tax filing"]  # fmt: skip
_EDITIONS = ["", "", "deluxe", "professional", "home", "standard", "premium", "student"]
_SAID = ["win", "mac", "upgrade", "full version", "cd-rom", "3 user", "1 user", "small box",
         "dvd", "academic", "old version", "xp/vista"]  # fmt: skip


def software(seed: int = 0, both: int = 450, single: int = 350) -> RecordSet:
    """title, manufacturer, price."""
    rng = np.random.default_rng(seed)
    makers = [f"{word(rng, 2)} {one_of(rng, ['inc', 'software', 'systems', ''])}".strip()
              for _ in range(60)]  # fmt: skip
    families = [
        (one_of(rng, makers), f"{word(rng, int(rng.integers(1, 4)))} {one_of(rng, _TASKS)}")
        for _ in range((both + single) // 3)
    ]
    rows, truth = [], []
    for thing in range(both + single):
        maker, name = families[int(rng.integers(len(families)))]
        version = one_of(rng, ["", f"{rng.integers(1, 13)}.0", str(rng.integers(2003, 2009)),
                               f"v{rng.integers(2, 9)}.{rng.integers(1, 10)}"])  # fmt: skip
        edition, price = one_of(rng, _EDITIONS), float(rng.lognormal(4, 0.9))
        for shop in (0, 1) if thing < both else (int(rng.integers(2)),):
            rows.append(_title(rng, shop, maker, [name, version, edition], price))
            truth.append(thing)
    return table(rng, ["title", "manufacturer", "price"], rows, truth)


def _title(rng: Rng, shop: int, maker: str, what: list[str], price: float) -> list[str]:
    name, version, edition = what
    extras = rng.permutation(_SAID)[: int(rng.integers(0, 3))].tolist()
    if shop == 0:
        title = " ".join(filter(None, [name, edition, version, *extras]))
        return [slip(rng, title) if rng.random() < 0.05 else title, maker, f"{price:.2f}"]
    shown = version if rng.random() < 0.85 else ""
    parts = [maker.split()[0] if rng.random() < 0.6 else "", name, shown, edition, *extras]
    title = " ".join(filter(None, parts))
    asked = price * float(rng.choice([1.0, 1.0, 0.95, 0.8, 0.6]))
    return [title, maker if rng.random() < 0.15 else "", f"{asked:.2f}"]


# -- listings ------------------------------------------------------------------------------------
_THINGS = ["drill", "router", "monitor", "blender", "keyboard", "soundbar", "tyre", "charger"]
_BLURB = ["new", "original", "free shipping", "2 year warranty", "black", "white", "eu plug",
          "boxed", "18 v", "27 inch", "refurbished", "set of 2", "500 w", "bundle"]  # fmt: skip


def listings(seed: int = 0, things: int = 420) -> RecordSet:
    """title, seller_text, category, price: sellers of one market, and parts made for a model."""
    rng = np.random.default_rng(seed)
    makers = [word(rng, int(rng.integers(2, 4))) for _ in range(30)]
    rows: list[list[str]] = []
    truth: list[int] = []
    for thing in range(things):
        maker, kind = one_of(rng, makers), one_of(rng, _THINGS)
        letters = "".join(rng.choice(list("ACDEGHKLMPRSTXZ"), int(rng.integers(1, 4))))
        model = (letters, f"{rng.integers(2, 99)}{one_of(rng, ['', '0', '00', '5'])}")
        part = one_of(rng, ["case for", "spare part for", "manual"]) if rng.random() < 0.15 else ""
        price = float(rng.lognormal(4, 1)) * (0.1 if part else 1.0)
        for _ in range(int(rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1]))):
            code = one_of(rng, ["", "-", " "]).join(model)
            named = [part, maker if rng.random() < 0.85 else "", kind]
            named.insert(int(rng.integers(1, 4)), code if rng.random() < 0.9 else "")
            said = rng.permutation(_BLURB)[: int(rng.integers(1, 5))].tolist()
            title = " ".join(filter(None, [*named, *said]))
            text = " ".join([maker, kind, code if rng.random() < 0.4 else "", *said[:2]])
            rows.append([slip(rng, title) if rng.random() < 0.08 else title,
                         text if rng.random() < 0.7 else "",
                         kind if rng.random() < 0.8 else "other",
                         f"{price * rng.uniform(0.8, 1.2):.2f}"])  # fmt: skip
            truth.append(thing)
    return table(rng, ["title", "seller_text", "category", "price"], rows, truth)


# -- drugs ---------------------------------------------------------------------------------------
_SHAPES = [("tablets", "tab"), ("capsules", "caps"), ("solution", "sol"), ("cream", "crm")]


def drugs(seed: int = 0, packs: int = 600) -> RecordSet:
    """name, strength, pack, maker: the same substance by many strengths and sizes."""
    rng = np.random.default_rng(seed)
    substances = [word(rng, int(rng.integers(2, 4))) for _ in range(90)]
    makers = [f"{word(rng, 2)} {one_of(rng, ['pharma', 'laboratories', 'health'])}"
              for _ in range(25)]  # fmt: skip
    seen: set[tuple[str, ...]] = set()
    rows, truth = [], []
    while len(seen) < packs:
        long, short = _SHAPES[int(rng.integers(4))]
        what = (one_of(rng, substances), long, one_of(rng, ["5", "10", "20", "50", "100", "250"]),
                one_of(rng, ["10", "20", "30", "50", "100"]), one_of(rng, makers))  # fmt: skip
        if what in seen:
            continue
        seen.add(what)
        for listed in rng.permutation(3)[: int(rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))]:
            name, shape, strength, count, maker = what
            name = slip(rng, name) if rng.random() < 0.08 else name
            if listed == 0:
                row = [f"{name} {strength} mg {shape}", f"{strength} mg", count, maker]
            elif listed == 1:
                row = [f"{name} {short} {strength}mg n{count}".upper(), "", "", maker.split()[0]]
            else:
                row = [f"{name} {maker.split()[0]}", f"{strength}mg", f"{count} {short}", ""]
            rows.append(row)
            truth.append(len(seen) - 1)
    return table(rng, ["name", "strength", "pack", "maker"], rows, truth)


# -- citations as they stand ---------------------------------------------------------------------
_FIELDS = ["markets", "glaciers", "proteins", "syntax", "migration", "turbulence", "enzymes",
           "voting", "soils", "galaxies", "memory", "corrosion"]  # fmt: skip
_KINDS = ["evidence from", "the dynamics of", "notes on", "a model of", "measuring", "rethinking"]


def works_cited(seed: int = 0, works: int = 350) -> RecordSet:
    """reference, year."""
    rng = np.random.default_rng(seed)
    people = [(word(rng, 2), word(rng, int(rng.integers(2, 4)))) for _ in range(220)]
    journals = [(f"journal of {a} and {b}", f"j. {a[:4]}. {b[:4]}.")
                for a, b in rng.choice(_FIELDS, (40, 2))]  # fmt: skip
    rows, truth = [], []
    for work in range(works):
        who = [people[at] for at in rng.choice(220, int(rng.integers(1, 4)), replace=False)]
        title = f"{one_of(rng, _KINDS)} {one_of(rng, _FIELDS)} in {word(rng, 3)} {word(rng, 2)}"
        journal, year = journals[int(rng.integers(40))], int(rng.integers(1970, 2020))
        volume, page = int(rng.integers(1, 90)), int(rng.integers(1, 900))
        for _ in range(int(rng.choice([1, 1, 2, 3, 5, 8]))):
            way = int(rng.integers(3))
            names = [(f"{s}, {g[0]}.", f"{g} {s}", f"{s} {g[0]}")[way] for g, s in who]
            names = [*names[:1], "et al."] if len(names) > 1 and rng.random() < 0.2 else names
            said = slip(rng, title) if rng.random() < 0.15 else title
            parts = [", ".join(names), said, one_of(rng, list(journal))]
            parts += [f"{volume}, {page}"] if rng.random() < 0.6 else []
            rows.append([". ".join(parts), str(year) if rng.random() < 0.8 else ""])
            truth.append(work)
    return table(rng, ["reference", "year"], rows, truth)


# -- patients ------------------------------------------------------------------------------------
def clinic(seed: int = 0, families: int = 450) -> RecordSet:
    """given, family, sex, born, street, postcode, phone."""
    rng = np.random.default_rng(seed)
    given = [word(rng, 2) for _ in range(150)]
    names = [word(rng, int(rng.integers(2, 4))) for _ in range(300)]
    streets = [word(rng, 3) for _ in range(120)]
    rows, truth = [], []
    for _ in range(families):
        family, home = one_of(rng, names), _home(rng, streets)
        twins = rng.random() < 0.08
        born = _birthday(rng)
        for member in range(2 if twins else int(rng.choice([1, 2, 3]))):
            first, sex = one_of(rng, given), one_of(rng, ["f", "m"])
            born = born if twins and member else _birthday(rng)
            thing = truth[-1] + 1 if truth else 0
            maiden = one_of(rng, names) if sex == "f" and rng.random() < 0.2 else family
            for visit in range(int(rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))):
                last = maiden if visit == 0 else family
                where = home if rng.random() < 0.85 else _home(rng, streets)
                both = [first, last] if rng.random() < 0.95 else [last, first]
                values = [*both, sex, born, *where]
                rows.append([_written(rng, value) for value in values])
                truth.append(thing)
    columns = ["given", "family", "sex", "born", "street", "postcode", "phone"]
    return table(rng, columns, rows, truth)


def _home(rng: Rng, streets: list[str]) -> list[str]:
    at = int(rng.integers(len(streets)))
    phone = f"0{rng.integers(20, 99)} {rng.integers(100_000, 999_999)}"
    return [f"{streets[at]} {rng.integers(1, 120)}", str(1000 + 7 * at), phone]


def _birthday(rng: Rng) -> str:
    return f"{rng.integers(1930, 2015)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"


def _written(rng: Rng, value: str) -> str:
    if rng.random() < 0.07:
        return ""
    return slip(rng, value) if rng.random() < 0.08 and len(value) > 3 else value


FRESH: dict[str, Callable[[int], RecordSet]] = {
    "software": software,
    "listings": listings,
    "drugs": drugs,
    "works_cited": works_cited,
    "clinic": clinic,
}
