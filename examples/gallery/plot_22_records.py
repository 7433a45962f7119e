"""
Which of these are the same?
============================

Dossier compares records field by field. How well each pair of candidates agrees is a number, the
log-odds that both are about the same person; what is above 0 speaks for it.
"""

import matplotlib.pyplot as plt
import numpy as np

from coterie import Dossier

rng = np.random.default_rng(0)
letters = np.array(list("abcdefghijklmnoprstuvwyz"))


def word(length):
    return "".join(rng.choice(letters, length))


def slip(text):
    at = rng.integers(len(text) - 1)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


surnames, towns = [word(7) for _ in range(80)], [word(6) for _ in range(20)]
rows, truth = [], []
for person in range(200):
    who = [word(5), rng.choice(surnames), rng.choice(towns), str(rng.integers(1940, 2005))]
    for _ in range(rng.integers(1, 4)):
        rows.append([slip(value) if rng.random() < 0.35 else value for value in who])
        truth.append(person)
truth = np.array(truth)
names = ["given", "surname", "town", "born"]
people = {
    name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
}
model = Dossier().fit(people)

same = truth[model.pairs_[:, 0]] == truth[model.pairs_[:, 1]]
bins = np.linspace(model.log_odds_.min(), model.log_odds_.max(), 50)
plt.figure(figsize=(7, 3.5), layout="constrained")
plt.hist([model.log_odds_[~same], model.log_odds_[same]], bins, stacked=True)
plt.legend(["different people", "the same person"])
plt.axvline(0, color="black", linewidth=1)
plt.yscale("log")
plt.xlabel("log-odds that two records are about one person")
plt.ylabel("pairs that were compared")
plt.title(f"{len(truth)} records of 200 people: {model.n_clusters_} found")
plt.show()
