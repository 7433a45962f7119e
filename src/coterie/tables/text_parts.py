"""Texts as features: tf-idf of words, and the topics that these form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.data import one_blas_thread
from coterie.exceptions import InvalidData
from coterie.tables.notes import Note
from coterie.tables.stop_words import language_of, stop_words
from coterie.tables.summary import ColumnSummary, documents
from coterie.tables.table import Table

__all__ = ["TextPart", "TopicsPart"]

TOPICS = 100
_MOST_WORDS = 20_000
_COMMON = 0.5  # share of the texts that a word may be in
_BARE = 0.01  # share of the texts that may be left without words by that
_FEWEST = 20  # texts from which a share of them means something
_RARE = 500  # a word must be in one of so many texts; in 2 of them at least, 5 are enough
_WORDS = 3  # of a text, on average: shorter ones are told apart by their letters
_NONE = "rows hold none of the words"


@dataclass(frozen=True)
class TextPart:
    """A column of text by its words: tf-idf (n, words), CSR, rows of length 1.

    See `TopicsPart` for what brings texts of one subject together.
    """

    kind: ClassVar[str] = "text"
    column: str
    words: list[str]
    idf: list[float]

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary) -> TextPart:
        """The words that occur in two rows at least: others cannot bring rows together.

        Weighted as scikit-learn's `TfidfVectorizer` does: log((1 + n) / (1 + rows with it)) + 1.
        """
        words = sorted(word for word, rows in summary.words.items() if rows > 1)
        if not words:
            raise InvalidData(f"{source}: no word of column {summary.name!r} occurs in two rows.")
        rows = np.array([summary.words[word] for word in words], dtype=np.float64)
        idf = np.log((1 + summary.n_rows) / (1 + rows)) + 1.0
        return cls(summary.name, words, idf.tolist())

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.column}:{word}" for word in self.words]

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.idf)
        X = vectorizer.transform(documents(table.column(self.column)))
        empty = int((np.diff(X.indptr) == 0).sum())
        notes = [Note(self.column, empty, _NONE)] if empty else []
        return X, notes


@dataclass(frozen=True, eq=False)
class TopicsPart:
    """A column of text by its topics, (n, k) of length 1 each; a text without words is 0.

    Words (or letters, of short texts) that are in some texts but not in most (unless texts would be
    left without any), without those that are everywhere in the language, weighted by tf-idf with
    1 + log(tf), and reduced to k = 100 dimensions by a singular value decomposition (latent
    semantic analysis); as they are if there are no more than 100.

    Attributes
    ----------
    column : str
    language : str
        Whose stop words were left out; "" for none.
    analyzer, ngrams : str, list of int
        As in scikit-learn's `TfidfVectorizer`: "word" or "char_wb".
    words : list of str
        Of the m features before they were reduced.
    idf : (m,) ndarray
    components : (k, m) ndarray of float32, or None
    """

    kind: ClassVar[str] = "topics"
    column: str
    language: str
    analyzer: str
    ngrams: list[int]
    words: list[str]
    idf: NDArray[Any]
    components: NDArray[Any] | None = None

    @classmethod
    def learn(cls, source: str, summary: ColumnSummary) -> TopicsPart:
        """What scikit-learn's `TfidfVectorizer` and `TruncatedSVD` learn from the texts.

        Of very many texts a sample teaches, the same one however the table is read.
        """
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        name, known = summary.name, summary.texts.texts()
        if not known:
            raise InvalidData(
                f"{source}: column {name!r} holds no value; leave it out with `drop`."
            )
        short = sum(len(text.split()) for text in known) < _WORDS * len(known)
        language = "" if short else language_of(known)
        vectorizer = TfidfVectorizer(
            **_manner(language, "char_wb" if short else "word", [2, 4] if short else [1, 1]),
            min_df=min(max(2, len(known) // _RARE), 5),
            max_features=_MOST_WORDS,
        )
        weights = _weights(vectorizer, known)
        if weights is None:
            raise InvalidData(f"{source}: no word of column {name!r} occurs in two rows.")
        components = None
        if weights.shape[1] > TOPICS < weights.shape[0]:
            svd = TruncatedSVD(TOPICS, random_state=0)
            with one_blas_thread():
                components = svd.fit(weights).components_.astype(np.float32)
        return cls(
            name,
            language,
            vectorizer.analyzer,
            list(vectorizer.ngram_range),
            vectorizer.get_feature_names_out().tolist(),
            vectorizer.idf_,
            components,
        )

    @property
    def feature_names(self) -> list[str]:
        if self.components is None:
            return [f"{self.column}:{word}" for word in self.words]
        return [f"{self.column} topic {j + 1}" for j in range(len(self.components))]

    @property
    def what(self) -> str:
        """What was made of the texts, in words."""
        made = "letters" if self.analyzer == "char_wb" else "words"
        spoken = f", {self.language.capitalize()}" if self.language else ""
        reduced = "" if self.components is None else f" in {len(self.components)} topics"
        return f"{len(self.words)} {made}{reduced}{spoken}"

    def weights(self, table: Table) -> Any:
        """tf-idf of the words (n, m), CSR, rows of length 1 or 0."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        manner = _manner(self.language, self.analyzer, self.ngrams)
        vectorizer = TfidfVectorizer(vocabulary=self.words, **manner)
        vectorizer.idf_ = np.asarray(self.idf)
        return vectorizer.transform(documents(table.column(self.column)))

    def spelled(self, table: Table) -> tuple[Any, list[str]]:
        """Weights of words (n, ·), CSR, and the words: for people, who do not read by letters."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        if self.analyzer == "word":
            return self.weights(table), self.words
        vectorizer = TfidfVectorizer(token_pattern=r"(?u)\S+")
        weights = vectorizer.fit_transform(documents(table.column(self.column)))
        return weights, vectorizer.get_feature_names_out().tolist()

    def apply(self, table: Table) -> tuple[Any, list[Note]]:
        from sklearn.preprocessing import normalize

        weights = self.weights(table)
        empty = int((np.diff(weights.indptr) == 0).sum())
        notes = [Note(self.column, empty, _NONE)] if empty else []
        if self.components is None:
            return weights.toarray(), notes
        with one_blas_thread():
            topics = weights @ np.asarray(self.components, dtype=np.float64).T
        return normalize(topics), notes


def _weights(vectorizer: Any, texts: list[str]) -> Any | None:
    """tf-idf (n, m) of a vectorizer that learns the texts; None if no word is in enough of them.

    Words of most texts are left out, unless they are what many texts are about.
    """
    for common in (_COMMON, 1.0) if len(texts) >= _FEWEST else (1.0,):
        try:
            weights = vectorizer.set_params(max_df=common).fit_transform(texts)
        except ValueError:  # scikit-learn's way to say that no word is left
            continue
        if common == 1.0 or (np.diff(weights.indptr) == 0).mean() <= _BARE:
            return weights
    return None


def _manner(language: str, analyzer: str, ngrams: list[int]) -> dict[str, Any]:
    """How a `TfidfVectorizer` takes texts apart."""
    left_out = sorted(stop_words(language))
    return {
        "analyzer": analyzer,
        "ngram_range": tuple(ngrams),
        "stop_words": left_out if left_out and analyzer == "word" else None,
        "sublinear_tf": True,
    }
