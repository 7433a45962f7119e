"""Text sets as sparse matrices: tokenise, drop stop words, drop rare and common words, tf-idf."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.utils import Bunch

from coterie.datasets._files import data_file, encode
from coterie.validation import check_choice

NEWS = {
    "news_different_3": ["alt.atheism", "rec.sport.baseball", "sci.space"],
    "news_related_3": ["talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"],
    "news_similar_3": ["comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"],
}
CLASSIC3_SUBSET = {"cran": 100, "med": 100, "cisi": 200}


def _read_documents(relative: str) -> tuple[list[str], list[str]]:
    """Texts and class names of a gzipped file of JSON lines."""
    with gzip.open(data_file(relative), "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [record["text"] for record in records], [record["class"] for record in records]


def _subject_and_body(message: str) -> str:
    """A message without its other headers: `Newsgroups:` and `Path:` give the class away."""
    head, _, body = message.partition("\n\n")
    subjects = [line[8:] for line in head.splitlines() if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def vectorize(
    texts: Sequence[str],
    classes: Sequence[str],
    description: str,
    *,
    weighting: str = "tfidf",
    min_documents: int = 3,
    max_share: float = 0.5,
) -> Bunch:
    """Documents to a CSR matrix, as §3.5.1 of Basu et al. (2006) describes.

    Tokens, stop words out, words in fewer than `min_documents` documents or more than `max_share`
    of them out, tf-idf.

    ``weighting="tfidf"`` gives tf · (1 + log(n/df)) with rows of Euclidean length 1;
    ``"counts"`` the term counts themselves, for divergences of counts.
    """
    check_choice("weighting", weighting, ["tfidf", "counts"])
    counter = CountVectorizer(
        stop_words="english",
        token_pattern=r"(?u)\b[^\W\d_]{2,}\b",
        min_df=min_documents,
        max_df=max_share,
        dtype=np.float64,
    )
    data = sparse.csr_matrix(counter.fit_transform(texts))
    if weighting == "tfidf":
        data = sparse.csr_matrix(TfidfTransformer(smooth_idf=False).fit_transform(data))
    target, names = encode(classes)
    return Bunch(
        data=data,
        target=target,
        target_names=names,
        feature_names=counter.get_feature_names_out(),
        texts=list(texts),
        DESCR=description,
    )


def _sample(classes: Sequence[str], size: dict[str, int], seed: int = 0) -> np.ndarray:
    """Rows: of each class, in the order of `size`, the first so many of a permutation."""
    rng = np.random.default_rng(seed)
    names = np.asarray(classes)
    rows = [rng.permutation(np.flatnonzero(names == name))[:count] for name, count in size.items()]
    return np.sort(np.concatenate(rows))


def load_news(name: str, *, weighting: str = "tfidf") -> Bunch:
    """20 Newsgroups (the original 20 × 1,000 messages), 100 messages a group.

    `news_all_20` is the reduced collection of Basu et al. (2004, 2006); `news_different_3`,
    `news_related_3`, `news_similar_3` are three groups of it. Subject and body only.
    """
    texts, classes = _read_documents("newsgroups20.jsonl.gz")
    groups = sorted(set(classes))
    reduced = _sample(classes, dict.fromkeys(groups, 100))
    wanted = NEWS.get(name, groups)
    rows = [row for row in reduced if classes[row] in wanted]
    return vectorize(
        [_subject_and_body(texts[row]) for row in rows],
        [classes[row] for row in rows],
        load_news.__doc__ or "",
        weighting=weighting,
    )


def load_classic3(*, weighting: str = "tfidf") -> Bunch:
    """Classic3, 3,891 abstracts: Cranfield (aeronautics), Medline (medicine), CISI (retrieval)."""
    texts, classes = _read_documents("classic3.jsonl.gz")
    return vectorize(texts, classes, load_classic3.__doc__ or "", weighting=weighting)


def load_classic3_subset(*, weighting: str = "tfidf") -> Bunch:
    """400 documents of Classic3: 100 Cranfield, 100 Medline, 200 CISI (Basu et al. 2004, §5.1)."""
    texts, classes = _read_documents("classic3.jsonl.gz")
    rows = _sample(classes, CLASSIC3_SUBSET)
    return vectorize(
        [texts[row] for row in rows],
        [classes[row] for row in rows],
        load_classic3_subset.__doc__ or "",
        weighting=weighting,
    )


def load_classic3_counts() -> Bunch:
    """Classic3 as the 3,891 × 4,303 term counts of the co-clustering papers."""
    with np.load(data_file("classic3_counts.npz"), allow_pickle=False) as stored:
        data = sparse.csr_matrix(
            (
                stored["data"].astype(np.float64),
                stored["indices"].astype(np.int32),
                stored["indptr"],
            ),
            shape=tuple(stored["shape"]),
        )
        target, terms = stored["y"].astype(np.int64), stored["terms"]
    return Bunch(
        data=data,
        target=target,
        target_names=np.asarray(["med", "cisi", "cran"]),
        feature_names=terms,
        DESCR=load_classic3_counts.__doc__ or "",
    )
