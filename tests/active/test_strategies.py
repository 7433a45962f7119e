"""Explore and Consolidate against the papers' figures, done naively; and the other strategies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_active import answered, blobs, pairs_of
from sklearn.ensemble import RandomForestClassifier

from coterie import PCKMeans
from coterie.active import (
    NPU,
    ActiveSession,
    Consolidate,
    Explore,
    ExploreConsolidate,
    InformationGain,
    LabelOracle,
    MinMax,
    RandomPairs,
    RecordQuestions,
    answer_all,
)
from coterie.exceptions import InvalidParameter
from coterie.metrics import adjusted_rand_score

EVERY = [
    Explore(),
    Explore(3),
    ExploreConsolidate(3),
    ExploreConsolidate(3, density_weighted=True),
    MinMax(3),
    NPU(3, n_trees=5),
    RandomPairs(),
    RandomPairs(skip_implied=False),
    InformationGain(),
    InformationGain(error_rate=0.1),
    RecordQuestions(recall=1.0),
]


def naive_neighborhoods(items, first):
    """Figure 2 replayed from the list of (x, member, answer): lists of rows."""
    hoods, refused = [[first]], {}
    for x, member, word in items:
        hood = next(h for h, rows in enumerate(hoods) if member in rows)
        if word == "same":
            hoods[hood].append(x)
        else:
            refused.setdefault(x, set()).add(hood)
            if len(refused[x]) == len(hoods):
                hoods.append([x])
    return hoods


def test_explore_is_figure_2():
    X, y = blobs(4, 8, spread=3.0, gap=6.0)
    session = ActiveSession(X, strategy=Explore(4), random_state=3)
    oracle = LabelOracle(y)
    items, first = [], None
    while (query := session.ask()) is not None:
        x, member = query.rows
        first = member if first is None else first
        hoods = naive_neighborhoods(items, first)
        placed = [row for rows in hoods for row in rows]
        under_way = items and items[-1][0] == x
        if not under_way:  # the row farthest from all neighbourhoods
            gap = ((X[:, None] - X[placed]) ** 2).sum(axis=2).min(axis=1)
            gap[placed] = -1
            assert x == gap.argmax()
        # nearest of the neighbourhoods that have not refused it, by any member
        refused = {m for a, m, word in items if a == x}
        left = [rows for rows in hoods if not set(rows) & refused]
        near = [((X[rows] - X[x]) ** 2).sum(axis=1).min() for rows in left]
        assert member in left[int(np.argmin(near))]
        word = oracle(query).answer
        items.append((x, member, word))
        session.tell(query, word)
    hoods = naive_neighborhoods(items, first)
    assert len(hoods) == 4
    assert sorted({int(y[rows[0]]) for rows in hoods}) == [0, 1, 2, 3]
    assert all(len(set(y[rows])) == 1 for rows in hoods)
    assert session.done == "Explore found all 4 clusters"


@pytest.mark.parametrize("k", [2, 3, 5])
def test_consolidate_asks_at_most_k_minus_1_and_infers_the_last(k):
    X, y = blobs(k, 12, spread=4.0, gap=3.0)
    session = ActiveSession(X, strategy=ExploreConsolidate(k), random_state=1)
    answer_all(session, LabelOracle(y))
    assert session.done == "every row has its cluster or was set aside"
    asked = [a.rows[0] for a in session.history if a.phase == "consolidate"]
    assert max(np.bincount(asked)) <= k - 1
    # Everything is placed, so the must-links alone give the classes.
    must = session.constraints.closure(hard_only=False)
    assert adjusted_rand_score(y, must.component) == 1.0
    inferred = session.constraints.n_pairs - session.n_asked
    assert inferred > 0


def test_consolidate_takes_the_nearest_centroid_first():
    X, y = blobs(3, 12, spread=4.0, gap=3.0)
    session = answered(X, y, ExploreConsolidate(3), 8)
    while (query := session.ask()) is not None and query.phase == "consolidate":
        x, member = query.rows
        known = session.constraints.closure(hard_only=False).component
        groups = {g: np.flatnonzero(known == g) for g in set(known[known_rows(session)])}
        refused = {known[a.rows[1]] for a in session.history if a.rows[0] == x}
        left = {
            g: rows
            for g, rows in groups.items()
            if len({*rows} & {*founders(session, y)}) and g not in refused and g != known[x]
        }
        gap = {g: ((X[rows].mean(axis=0) - X[x]) ** 2).sum() for g, rows in left.items()}
        assert known[member] == min(gap, key=gap.get)
        session.tell(query, LabelOracle(y)(query).answer)


def known_rows(session):
    return sorted({row for a in session.history for row in a.rows})


def founders(session, y):
    """One row of each class found, the first that was seen."""
    first = {}
    for a in session.history:
        for row in (a.rows[1], a.rows[0]):
            first.setdefault(int(y[row]), row)
    return first.values()


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 5), st.integers(1, 3), st.integers(0, 10_000))
def test_explore_finds_all_clusters_within_the_bound_of_appendix_a4(k, d, seed):
    """Disjoint balls, rows filling them uniformly: at most l = 1/π_min farthest-first attempts."""
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.5, 1.5, size=k)
    centers = np.zeros((k, d))
    centers[:, 0] = np.cumsum(2 * radius + rng.uniform(1.0, 4.0, size=k) * radius.max())
    volume = radius**d
    counts = np.maximum(20, np.round(60 * volume / volume.min()).astype(int))
    y = np.repeat(np.arange(k), counts)
    direction = rng.normal(size=(y.size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    inside = rng.random(y.size) ** (1 / d)
    X = centers[y] + direction * (inside * radius[y])[:, None]
    session = ActiveSession(X, strategy=Explore(k), random_state=seed)
    answer_all(session, LabelOracle(y))
    assert session.done == f"Explore found all {k} clusters"
    attempts = 1 + len({a.rows[0] for a in session.history})
    assert attempts <= np.ceil(y.size / counts.min())
    assert session.n_asked <= attempts * (k - 1)


def test_density_weighting_leaves_outliers_alone():
    rng = np.random.default_rng(0)
    X, y = blobs(3, 40)
    far = rng.normal(size=(6, 2)) * 5 + np.array([[400.0, -400.0]])
    X = np.vstack([X, far * rng.uniform(0.5, 1.5, size=(6, 1))])
    y = np.append(y, np.zeros(6, dtype=int))  # outliers that belong to an old cluster
    plain = answered(X, y, Explore(3), 200)
    weighted = answered(X, y, Explore(3, density_weighted=True), 200)
    outliers = set(range(120, 126))
    assert {a.rows[0] for a in plain.history} & outliers
    assert not {a.rows[0] for a in weighted.history} & outliers
    assert weighted.n_asked < plain.n_asked


def test_min_max_takes_the_row_least_like_any_placed_row():
    X, y = blobs(3, 12, spread=4.0, gap=3.0)
    session = answered(X, y, MinMax(3), 6)
    while (query := session.ask()) is not None and session.n_asked < 30:
        x = query.rows[0]
        if query.phase == "min-max" and not any(a.rows[0] == x for a in session.history):
            seen = known_rows(session)
            gap = ((X[:, None] - X[seen]) ** 2).sum(axis=2).min(axis=1)
            assert x == gap.argmax()
        session.tell(query, LabelOracle(y)(query).answer)


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_no_pair_is_asked_twice_and_running_out_is_normal(strategy):
    X, y = blobs(3, 7, spread=2.0)
    session = answered(X, y, strategy, None, estimator=PCKMeans(3, random_state=0))
    assert session.ask() is None
    assert session.ask(batch=4) == []
    assert isinstance(session.done, str)
    pairs = [a.pair for a in session.history]
    assert len(pairs) == len(set(pairs)) > 0
    limit = 21 * 20 / 2 if isinstance(strategy, RandomPairs) else 21 * 3
    assert len(pairs) <= limit


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_a_batch_can_be_answered_in_any_order(strategy):
    X, y = blobs(3, 12, spread=3.0)
    estimator = PCKMeans(3, random_state=0)
    start = answered(X, y, strategy, 6, estimator=estimator)
    oracle = LabelOracle(y)
    questions = start.ask(batch=5)
    rows = [q.rows[0] for q in questions]
    assert len(set(rows)) == len(rows)
    for query in reversed(questions):
        start.tell(query, oracle(query).answer)  # no answer may contradict or imply another
    last = start.history[-len(questions) :] if questions else ()
    assert [a.pair for a in last] == [tuple(sorted(q.rows)) for q in reversed(questions)]


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_dont_know_is_not_asked_again(strategy):
    X, y = blobs(3, 10, spread=2.0)
    oracle = LabelOracle(y, unknown_rate=0.4, random_state=1)
    session = answered(X, y, strategy, 120, oracle=oracle, estimator=PCKMeans(3, random_state=0))
    pairs = [a.pair for a in session.history]
    assert len(pairs) == len(set(pairs))
    assert any(a.answer == "unknown" for a in session.history)
    clean = session.constraints
    same = y[clean.pairs[:, 0]] == y[clean.pairs[:, 1]]
    assert (same == (clean.kind > 0)).all()  # nothing false was inferred from not knowing


PLACING = [ExploreConsolidate(3), MinMax(3), NPU(3, n_trees=5)]


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_dont_know_bars_the_question_and_not_the_neighbourhood(tries):
    """Of one row nobody can tell anything: each neighbourhood is asked `tries` times, no more."""
    X, y = blobs(3, 10, spread=2.0)
    riddle = int(np.flatnonzero(y == 1)[4])
    session = ActiveSession(X, strategy=ExploreConsolidate(3, tries=tries), random_state=0)
    tell = LabelOracle(y)
    while (query := session.ask()) is not None:
        assert query.rows[1] != riddle  # it has no neighbourhood that it could stand for
        session.tell(query, "unknown" if query.rows[0] == riddle else tell(query).answer)
    asked = [a.rows[1] for a in session.history if a.rows[0] == riddle]
    assert len(set(asked)) == len(asked)
    assert np.bincount(y[asked], minlength=3).tolist() == [tries] * 3


def test_later_puts_the_neighbourhood_off():
    """Who says "later" is not asked about the same row and cluster at once."""
    X, y = blobs(3, 10, spread=2.0)
    session = ActiveSession(X, strategy=ExploreConsolidate(3), random_state=0)
    answer_all(session, LabelOracle(y), max_questions=12)
    query = session.ask()
    session.tell(query, "later")
    again = session.ask()
    assert again is not None
    row, group = query.rows[0], y[query.rows[1]]
    assert not (again.rows[0] == row and y[again.rows[1]] == group)


@pytest.mark.parametrize("strategy", PLACING, ids=repr)
def test_rows_of_which_little_is_known_are_placed_after_all(strategy):
    """With a third of don't-knows, far more rows find their cluster than by giving up at once."""
    X, y = blobs(3, 12, spread=3.0)
    placed = []
    for tries in (1, 3):
        count = 0
        for seed in range(4):
            oracle = LabelOracle(y, unknown_rate=0.35, random_state=seed)
            session = ActiveSession(
                X,
                strategy=replace(strategy, tries=tries),
                estimator=PCKMeans(3, random_state=0),
                random_state=seed,
            )
            answer_all(session, oracle)
            sizes = session.constraints.closure(hard_only=False).sizes
            count += sizes[sizes > 1].sum()
        placed.append(count)
    assert placed[1] > placed[0]


@pytest.mark.parametrize("strategy", EVERY, ids=repr)
def test_only_candidates_are_asked_about(strategy):
    X, y = blobs(3, 12, spread=3.0)
    rows = np.arange(0, 36, 2)
    session = answered(X, y, strategy, 25, candidates=rows, estimator=PCKMeans(3, random_state=0))
    assert {row for a in session.history for row in a.rows} <= set(rows.tolist())
    assert session.n_asked > 3 or session.done


def test_explore_measures_by_the_estimators_distortion():
    X = np.array([[1.0, 0.0], [9.0, 0.1], [0.0, 1.0], [0.1, 5.0]])
    far = []
    for metric in ("sqeuclidean", "cosine"):
        session = ActiveSession(
            X, strategy=Explore(), estimator=PCKMeans(2, metric=metric), random_state=0
        )
        far.append(session.ask().rows)
    start = far[0][1]
    assert far[0][1] == far[1][1]
    plain = ((X - X[start]) ** 2).sum(axis=1).argmax()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert (far[0][0], far[1][0]) == (plain, (unit @ unit[start]).argmin())
    assert far[0][0] != far[1][0]


def test_npu_takes_the_largest_entropy_per_expected_question():
    X, y = blobs(3, 10, spread=4.0, gap=3.0)
    estimator = PCKMeans(3, random_state=0)
    session = answered(X, y, NPU(3, n_trees=15), 14, estimator=estimator)
    while session.ask().rows[0] in {a.rows[0] for a in session.history}:
        session.tell(session.ask(), LabelOracle(y)(session.ask()).answer)
    query = session.ask()
    assert query.phase == "npu"
    forest = RandomForestClassifier(15, random_state=0).fit(X, session.labels())
    leaves = forest.apply(X)
    likeness = (leaves[:, None] == leaves[None]).mean(axis=2)  # (n, n), as the paper defines it
    planner = session._planner.second
    hoods = planner.read(session._knowledge).whole()
    p = np.column_stack([likeness[:, rows].mean(axis=1) for rows in hoods]) + 1e-9
    p /= p.sum(axis=1, keepdims=True)
    entropy = -(p * np.log2(p)).sum(axis=1)
    best = np.sort(p, axis=1)[:, ::-1]
    worth = entropy / (best[:, 0] + 2 * best[:, 1] + 2 * best[:, 2])
    seen = known_rows(session)
    worth[seen] = -1
    assert query.rows[0] == worth.argmax()
    assert query.rows[1] in hoods[int(p[query.rows[0]].argmax())]


def test_consolidate_alone_says_what_it_needs():
    X, _ = blobs()
    session = ActiveSession(X, strategy=Consolidate(3), random_state=0)
    assert session.ask() is None
    assert "run Explore first" in session.done


@pytest.mark.parametrize(
    ("strategy", "wrong"),
    [
        (Explore, {"n_clusters": 0}),
        (ExploreConsolidate, {"n_clusters": -1}),
        (MinMax, {"n_clusters": 0}),
        (NPU, {"n_clusters": 2, "n_trees": 0}),
    ],
)
def test_bad_parameters_are_refused_at_once(strategy, wrong):
    with pytest.raises(InvalidParameter, match="at least 1"):
        strategy(**wrong)


def test_random_pairs_draw_every_pair_about_equally():
    X = np.arange(5.0)[:, None]
    counts = np.zeros((5, 5))
    for seed in range(400):
        i, j = sorted(ActiveSession(X, strategy=RandomPairs(), random_state=seed).ask().rows)
        counts[i, j] += 1
    drawn = counts[np.triu_indices(5, 1)]
    assert drawn.min() > 20  # 40 expected, standard deviation 6
    assert pairs_of(ActiveSession(X, strategy=RandomPairs(), random_state=0)) == []


@pytest.mark.parametrize("strategy", [Explore(), ExploreConsolidate()])
def test_volunteered_pairs_may_leave_nothing_to_ask_about_a_row(strategy):
    """Found by `make fuzz`: the only member of the nearest neighbourhood had been asked about."""
    session = ActiveSession(np.arange(6.0)[:, None], strategy=strategy, random_state=0)
    first = session.ask().rows[1]
    for row in set(range(6)) - {first}:
        session.tell((first, row), "unknown")
    assert session.ask() is None or first not in session.ask().rows
