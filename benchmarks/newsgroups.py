"""Six newsgroups through the command line, beside a pipeline of scikit-learn's without pairs.

    python benchmarks/newsgroups.py [--groups G,G,...] [--per-group 200] [--pairs 400] [--draws 3]

prints a table in Markdown: NMI and ARI of `coterie fit --text` without pairs, with pairs, and of
stop words, tf-idf, 100 dimensions, K-Means. Needs the folder of data sets (COTERIE_DATA).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import tempfile
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from coterie.cli.main import main as command
from coterie.constraints import sample_pairs

GROUPS = (
    "comp.graphics,rec.sport.hockey,sci.med,sci.space,soc.religion.christian,talk.politics.mideast"
)
DATA = Path(os.environ.get("COTERIE_DATA", "/work/shared/data")) / "newsgroups20.jsonl.gz"


def subject_and_body(message: str) -> str:
    """A message without the other headers, which name the group."""
    head, _, body = message.partition("\n\n")
    subject = next((line[8:] for line in head.splitlines() if line.startswith("Subject:")), "")
    return f"{subject}\n{body}"


def messages(groups: list[str], per_group: int, seed: int) -> tuple[list[str], np.ndarray]:
    """As many texts of each group, drawn by chance, and the number of the group of each."""
    by_group: dict[str, list[str]] = {group: [] for group in groups}
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["class"] in by_group:
                by_group[row["class"]].append(subject_and_body(row["text"]))
    rng = np.random.default_rng(seed)
    texts, classes = [], []
    for number, group in enumerate(groups):
        there = by_group[group]
        for at in rng.choice(len(there), min(per_group, len(there)), replace=False):
            texts.append(there[at])
            classes.append(number)
    order = rng.permutation(len(texts))
    return [texts[at] for at in order], np.array(classes)[order]


def by_command(texts: list[str], k: int, seed: int, known=None) -> np.ndarray:
    """The clusters that `coterie fit` writes."""
    with tempfile.TemporaryDirectory() as folder:
        rows, pairs, out = (str(Path(folder) / n) for n in ("rows.jsonl", "pairs.csv", "out.csv"))
        with open(rows, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"body": text}) + "\n" for text in texts)
        if known is not None:
            with open(pairs, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["a", "b", "kind"])
                for (a, b), kind in zip(known.pairs.tolist(), known.kind.tolist(), strict=True):
                    writer.writerow([a, b, "must" if kind > 0 else "cannot"])
        given = [rows, *([pairs] if known is not None else [])]
        options = ["--text", "body", "-k", str(k), "--seed", str(seed), "-o", out, "--only-labels"]
        result = CliRunner().invoke(command, ["fit", *given, *options])
        if result.exit_code:
            raise SystemExit(result.output)
        with open(out, newline="") as file:
            return np.array([int(row["cluster"]) for row in csv.DictReader(file)])


def by_pipeline(texts: list[str], k: int, seed: int) -> np.ndarray:
    """Stop words, tf-idf, 100 dimensions, length 1, K-Means: without pairs."""
    made = make_pipeline(
        TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=2, max_df=0.5),
        TruncatedSVD(100, random_state=seed),
        Normalizer(),
        KMeans(k, n_init=10, random_state=seed),
    )
    return made.fit_predict(texts)


def main() -> None:
    """Run the draws and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", default=GROUPS)
    parser.add_argument("--per-group", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--draws", type=int, default=3)
    chosen = parser.parse_args()
    groups = chosen.groups.split(",")
    rows = ("coterie fit, no pairs", f"coterie fit, {chosen.pairs} pairs", "scikit-learn, no pairs")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in rows}
    for seed in range(chosen.draws):
        texts, y = messages(groups, chosen.per_group, seed)
        known = sample_pairs(y, chosen.pairs, random_state=seed)
        labels = (
            by_command(texts, len(groups), seed),
            by_command(texts, len(groups), seed, known),
            by_pipeline(texts, len(groups), seed),
        )
        for name, got in zip(rows, labels, strict=True):
            found[name].append((normalized_mutual_info_score(y, got), adjusted_rand_score(y, got)))
    print(f"| {len(groups)} groups, {len(y)} messages, {chosen.draws} draws | NMI | ARI |")
    print("|---|---|---|")
    for name, scores in found.items():
        nmi, ari = (
            ", ".join(f"{value:.2f}" for value in column) for column in zip(*scores, strict=True)
        )
        print(f"| {name} | {nmi} | {ari} |")


if __name__ == "__main__":
    main()
