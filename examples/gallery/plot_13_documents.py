"""
Documents
=========

Texts as weighted words, compared by the cosine. A handful of pairs tells two meanings of "bank"
apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from coterie import Constraints, PCKMeans

river = [
    "the boat on the river bank",
    "fish near the river bank",
    "mud along the bank of the stream",
]
money = ["the bank raised its rates", "a loan from the bank", "the bank and its money"]
texts = (river + money) * 5
words = TfidfVectorizer(stop_words="english")
X = words.fit_transform(texts)
known = Constraints(
    len(texts), must_link=[(0, 1), (1, 2), (3, 4), (4, 5)], cannot_link=[(0, 3), (2, 5)]
)
model = PCKMeans(2, distortion="cosine", random_state=0).fit(X, constraints=known)

_, sides = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for cluster, ax in enumerate(sides):
    weights = np.asarray(X[model.labels_ == cluster].mean(axis=0)).ravel()
    heaviest = weights.argsort()[-6:]
    ax.barh(words.get_feature_names_out()[heaviest], weights[heaviest])
    ax.set(title=f"cluster {cluster}", xlabel="mean weight")
plt.show()
print(model.labels_[:6], "three about rivers, three about money")
