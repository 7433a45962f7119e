"""Made-up record sets of another character than the others: to report, not to choose rules by.

`companies`: firms with legal forms, abbreviations and subsidiaries that share the parent's name,
street and domain. `catalogue`: spare parts whose codes differ in one digit within a series, codes
written with and without signs, makers by two names. `contacts`: people of five languages, names
transliterated or the other way round, streets translated, days and months exchanged; siblings at
one address. `references`: papers by initials, venues abbreviated, years missing; a conference paper
and its journal version are two works.

Each returns columns (dict of (n,) object arrays) and the number of the thing of every record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from record_sets import RecordSet, Rng, one_of, slip, table, word

__all__ = ["OTHER", "catalogue", "companies", "contacts", "references"]


def _some(rng: Rng, value: str, slips: float, missing: float) -> str:
    """With a slip, missing, or as it is."""
    chance = rng.random()
    if chance < missing:
        return ""
    return slip(rng, value) if chance < missing + slips and len(value) > 3 else value


# -- companies -----------------------------------------------------------------------------------
_FORMS = [("gmbh", "gesellschaft mbh"), ("ag", "aktiengesellschaft"), ("ltd", "limited"),
          ("inc", "incorporated"), ("s.a.", "société anonyme"), ("llc", "l.l.c."),
          ("bv", "b.v.")]  # fmt: skip
_TRADES = [("engineering", "eng."), ("international", "intl"), ("technology", "tech"),
           ("logistics", "log."), ("chemicals", "chem."), ("brothers", "bros"),
           ("manufacturing", "mfg"), ("services", "svcs")]  # fmt: skip
_UNITS = ["holding", "sales", "finance", "properties", "north", "south", "iberia", "nordic"]


def companies(seed: int = 0, groups: int = 420) -> RecordSet:
    """name, street, city, domain, registration."""
    rng = np.random.default_rng(seed)
    cities = [word(rng, 3) for _ in range(40)]
    rows, truth = [], []
    for _ in range(groups):
        stem = " ".join(word(rng, int(rng.integers(2, 4))) for _ in range(int(rng.integers(1, 3))))
        street = f"{word(rng, 3)} {rng.integers(1, 200)}"
        city, domain = one_of(rng, cities), f"{stem.replace(' ', '-')}.com"
        trade = _TRADES[int(rng.integers(len(_TRADES)))]
        units = [""] + [f" {u}" for u in rng.permutation(_UNITS)[: int(rng.integers(0, 4))]]
        for unit in units:
            form = _FORMS[int(rng.integers(len(_FORMS)))]
            number, thing = str(rng.integers(10_000, 99_999)), truth[-1] + 1 if truth else 0
            own = street if rng.random() < 0.7 else f"{word(rng, 3)} {rng.integers(1, 200)}"
            for _ in range(int(rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15]))):
                how = int(rng.integers(2)), int(rng.integers(2))
                name = f"{stem} {trade[how[0]]}{unit}"
                name += f" {form[how[1]]}" if rng.random() < 0.85 else ""
                values = (name, own, city, domain, number)
                slips, gaps = (0.15, 0.1, 0.05, 0.02, 0.05), (0.0, 0.1, 0.05, 0.3, 0.45)
                rows.append([_some(rng, *v) for v in zip(values, slips, gaps, strict=True)])
                truth.append(thing)
    return table(rng, ["name", "street", "city", "domain", "registration"], rows, truth)


# -- catalogue -----------------------------------------------------------------------------------
def catalogue(seed: int = 0, series: int = 160) -> RecordSet:
    """maker, code, title, weight."""
    rng = np.random.default_rng(seed)
    makers = [(f"{word(rng, 2)} {word(rng, 2)}", word(rng, 1)) for _ in range(25)]
    parts = [word(rng, 2) for _ in range(60)]
    sizes = ["small", "large", "left", "right", "steel", "brass", "12v", "24v", "m6", "m8"]
    rows, truth = [], []
    for _ in range(series):
        maker, part = makers[int(rng.integers(len(makers)))], one_of(rng, parts)
        stem = f"{''.join(rng.choice(list('abcdefhkmpx'), 2))}{rng.integers(100, 999)}"
        for member in rng.permutation(10)[: int(rng.integers(2, 6))].tolist():
            code, size, grams = f"{stem}{member}", one_of(rng, sizes), rng.uniform(5, 900)
            thing = truth[-1] + 1 if truth else 0
            for _ in range(int(rng.choice([1, 2, 3], p=[0.45, 0.4, 0.15]))):
                written = code if rng.random() < 0.5 else f"{code[:2]}-{code[2:]}"
                words = [w for w in (part, size, written if rng.random() < 0.4 else "") if w]
                title = " ".join(rng.permutation(words))
                values = (maker[int(rng.random() < 0.3)], written, title, f"{grams:.0f}")
                slips, gaps = (0.05, 0.03, 0.1, 0.0), (0.05, 0.2, 0.0, 0.3)
                rows.append([_some(rng, *v) for v in zip(values, slips, gaps, strict=True)])
                truth.append(thing)
    return table(rng, ["maker", "code", "title", "weight"], rows, truth)


# -- contacts ------------------------------------------------------------------------------------
_STREETS = [("straße", "strasse", "str."), ("rue", "r.", "street"), ("via", "v.", "street"),
            ("calle", "c/", "street"), ("ulica", "ul.", "street")]  # fmt: skip
_LETTERS = [("ö", "oe"), ("é", "e"), ("ü", "ue"), ("ñ", "n"), ("ł", "l")]


def contacts(seed: int = 0, homes: int = 500) -> RecordSet:
    """given, family, street, post, born, mail."""
    rng = np.random.default_rng(seed)
    names = [[word(rng, 2) for _ in range(40)] for _ in range(5)]
    surnames = [[word(rng, int(rng.integers(2, 4))) for _ in range(150)] for _ in range(5)]
    rows, truth = [], []
    for _ in range(homes):
        tongue = int(rng.integers(5))
        letter, plain = _LETTERS[tongue]
        family = one_of(rng, surnames[tongue]).replace("e", letter, 1)
        road, house, post = word(rng, 3), rng.integers(1, 150), str(rng.integers(10_000, 99_999))
        for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):  # siblings
            given = one_of(rng, names[tongue])
            day, month, year = (int(rng.integers(*r)) for r in ((1, 28), (1, 13), (1950, 2005)))
            mail = f"{given}.{family.replace(letter, plain)}@{word(rng, 1)}.net"
            thing = truth[-1] + 1 if truth else 0
            for _ in range(int(rng.choice([1, 2, 3, 4], p=[0.4, 0.35, 0.15, 0.1]))):
                shown = family.replace(letter, plain) if rng.random() < 0.4 else family
                first, last = (shown, given) if rng.random() < 0.08 else (given, shown)
                kind = one_of(rng, _STREETS[tongue])
                street = (
                    f"{road} {kind} {house}" if rng.random() < 0.5 else f"{house} {kind} {road}"
                )
                swapped = day <= 12 and rng.random() < 0.1
                born = (
                    f"{year}-{day:02d}-{month:02d}" if swapped else f"{year}-{month:02d}-{day:02d}"
                )
                at = int(rng.integers(4))
                code = (
                    post[:at] + post[at + 1] + post[at] + post[at + 2 :]
                    if rng.random() < 0.1
                    else post
                )
                values = (
                    first if rng.random() < 0.9 else first[0] + ".",
                    last,
                    street,
                    code,
                    born,
                    mail,
                )
                slips, gaps = (0.08, 0.08, 0.05, 0.0, 0.0, 0.02), (0.0, 0.0, 0.15, 0.1, 0.35, 0.4)
                rows.append([_some(rng, *v) for v in zip(values, slips, gaps, strict=True)])
                truth.append(thing)
    return table(rng, ["given", "family", "street", "post", "born", "mail"], rows, truth)


# -- references ----------------------------------------------------------------------------------
_VENUES = [("international conference on {}", "int. conf. {}", "{}"),
           ("journal of {}", "j. {}", "{}"),
           ("proceedings of the {} workshop", "proc. {}", "{}")]  # fmt: skip


def references(seed: int = 0, works: int = 350) -> RecordSet:
    """authors, title, venue, year."""
    rng = np.random.default_rng(seed)
    people = [(word(rng, 2), word(rng, int(rng.integers(2, 4)))) for _ in range(260)]
    topics = [f"{word(rng, 2)} {word(rng, 2)}" for _ in range(30)]
    terms = [word(rng, int(rng.integers(2, 4))) for _ in range(250)]
    rows, truth = [], []
    for _ in range(works):
        writers = [people[i] for i in rng.permutation(len(people))[: int(rng.integers(1, 5))]]
        title = " ".join(one_of(rng, terms) for _ in range(int(rng.integers(3, 8))))
        topic, year = one_of(rng, topics), int(rng.integers(1985, 2015))
        for version in range(1 + int(rng.random() < 0.15)):  # then a journal takes it
            kind = 1 if version else int(rng.integers(3))
            thing = truth[-1] + 1 if truth else 0
            for _ in range(1 + int(rng.poisson(1.3))):
                style = int(rng.integers(3))
                said = [(f"{g} {f}", f"{g[0]}. {f}", f"{f}, {g[0]}.")[style] for g, f in writers]
                if len(said) > 2 and rng.random() < 0.3:
                    said = [said[0], "et al."]
                venue = one_of(rng, _VENUES[kind]).format(topic)
                values = (", ".join(said), title, venue, str(year + version))
                slips, gaps = (0.1, 0.15, 0.05, 0.0), (0.02, 0.0, 0.2, 0.3)
                rows.append([_some(rng, *v) for v in zip(values, slips, gaps, strict=True)])
                truth.append(thing)
    return table(rng, ["authors", "title", "venue", "year"], rows, truth)


OTHER: dict[str, Callable[[int], RecordSet]] = {
    "companies": companies,
    "catalogue": catalogue,
    "contacts": contacts,
    "references": references,
}
