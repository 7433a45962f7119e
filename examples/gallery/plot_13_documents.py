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
X = TfidfVectorizer().fit_transform(texts)
known = Constraints(
    len(texts), must_link=[(0, 1), (1, 2), (3, 4), (4, 5)], cannot_link=[(0, 3), (2, 5)]
)
model = PCKMeans(2, distortion="cosine", random_state=0).fit(X, constraints=known)

plt.figure(figsize=(7, 2), layout="constrained")
plt.imshow(model.labels_.reshape(5, 6), cmap="coolwarm", aspect="auto")
plt.xticks(range(6), ["river"] * 3 + ["money"] * 3)
plt.ylabel("copy")
plt.title("cluster of each text")
plt.show()
print(np.bincount(model.labels_))
