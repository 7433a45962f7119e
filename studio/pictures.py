"""Takes the pictures of Coterie Studio in the README and the pages, docs/images/studio-*.png.

    python studio/pictures.py [people] [wines]

Writes a table of people (some of them several times) and one of wines, starts the studio on each,
answers as the truth has it, and photographs the pages in Chromium. Needs what the browser tests
need: the bundle (`make studio`), Node and /usr/bin/chromium.
"""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_wine

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "studio" / "web"
IMAGES = ROOT / "docs" / "images"
NAMES = ["Anna Silva", "Bert Olsen", "Carla Moreau", "Dimitri Vale", "Elsa Nyman", "Farid Haddad"]
NAMES += [
    "Greta Lund",
    "Hugo Castell",
    "Ines Okafor",
    "Jonas Bergman",
    "Karin Weiss",
    "Leo Marchetti",
]
STREETS = [
    "High Street",
    "Mill Lane",
    "Station Road",
    "Church Walk",
    "Garden Row",
    "Harbour Street",
]
CITIES = ["Oslo", "Bergen", "Malmö", "Turku", "Aarhus", "Odense"]
NOTE = (
    "Called about the delivery, the parcel had gone to a neighbour and came back two weeks later. "
)


def main() -> None:
    """Take them all, or those that are named."""
    which = sys.argv[1:] or ["people", "wines"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        people = write_people(folder / "people.csv")
        wines = write_wines(folder / "wines.csv")
        if "people" in which:
            take(folder, "people", people, ["people.csv"])
        scaled = ["wines.csv", "--id", "id", "--scale", "-k", "3", "--seed", "0"]
        if "wines" in which:
            take(folder, "wines", wines, scaled)


def write_people(path: Path) -> list[int]:
    """Who is who, row by row: 160 people, one to three records of each."""
    rng = random.Random(4)
    rows: list[tuple[int, list[str]]] = []
    for person in range(160):
        first, last = rng.choice(NAMES).split()[0], rng.choice(NAMES).split()[1]
        where = f"{rng.randrange(1, 90)} {rng.choice(STREETS)}"
        known = [f"{first} {last}", where, rng.choice(CITIES), str(rng.randrange(1930, 2002))]
        known += [f"03{rng.randrange(10**8):08d}", NOTE * rng.choice([0, 0, 0, 1, 4])]
        for copy in range(rng.choice([1, 1, 2, 3])):
            rows.append((person, known if copy == 0 else [slip(rng, text) for text in known]))
    rng.shuffle(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "name", "street", "city", "born", "phone", "note"])
        writer.writerows([f"P{at:03d}", *known] for at, (_, known) in enumerate(rows))
    return [person for person, _ in rows]


def slip(rng: random.Random, text: str) -> str:
    """What a clerk makes of it: left out, shortened, or with a letter missing."""
    chance = rng.random()
    if chance < 0.15:
        return ""
    if chance < 0.3:
        return text.replace("Street", "St").replace("Road", "Rd")
    if chance < 0.5 and len(text) > 4:
        at = rng.randrange(1, len(text) - 1)
        return text[:at] + text[at + 1 :]
    return text


def write_wines(path: Path) -> list[int]:
    """The cultivar, row by row."""
    wine = load_wine()
    short = {"od280/od315_of_diluted_wines": "od280", "color_intensity": "colour"}
    short |= {"total_phenols": "phenols", "nonflavanoid_phenols": "nonflavanoid"}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = [
            short.get(n, n.replace("alcalinity_of_ash", "alcalinity")) for n in wine.feature_names
        ]
        writer.writerow(["id", *names])
        writer.writerows([f"W{at:03d}", *values] for at, values in enumerate(wine.data.tolist()))
    return wine.target.tolist()


def take(folder: Path, which: str, truth: list[int], arguments: list[str]) -> None:
    """Start the studio and photograph it."""
    (folder / f"{which}.json").write_text(json.dumps(truth))
    code = "from coterie.cli.main import main; main()"
    studio = subprocess.Popen(
        [sys.executable, "-c", code, "studio", *arguments, "--no-browser"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    try:
        assert studio.stdout is not None
        address = studio.stdout.readline().strip()
        script = ["browser/pictures.mjs", which, address, str(folder / f"{which}.json")]
        subprocess.run(["node", *script, str(IMAGES)], cwd=WEB, check=True)
    finally:
        studio.terminate()
        studio.wait(20)


if __name__ == "__main__":
    main()
