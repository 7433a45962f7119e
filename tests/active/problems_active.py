"""Rows and sessions that the tests of this folder share."""

from __future__ import annotations

import numpy as np

from coterie.active import ActiveSession, LabelOracle, answer_all


def blobs(k=3, per=20, d=2, spread=1.0, gap=10.0, seed=0):
    """k round groups far apart: X (k·per, d), y."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, d)) + gap * np.arange(k)[:, None]
    y = np.repeat(np.arange(k), per)
    order = rng.permutation(y.size)
    return (centers[y] + spread * rng.normal(size=(y.size, d)))[order], y[order]


def answered(X, y, strategy, questions, *, batch=1, oracle=None, **options):
    """A session after so many truthful answers."""
    session = ActiveSession(X, strategy=strategy, random_state=0, **options)
    oracle = LabelOracle(y) if oracle is None else oracle
    return answer_all(session, oracle, max_questions=questions, batch=batch)


def pairs_of(session):
    """(i, j, answer) of the history."""
    return [(*a.rows, a.answer) for a in session.history]
