"""What Mosaic's rows believe, by field and pairs, against naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from mosaic_problems import TUNING, posed

from coterie.cluster.mosaic.beliefs import (
    ends_together,
    find_posterior,
    fit_sharpness,
    form_beliefs,
    judge_field,
    softmax,
    start_from,
)
from coterie.cluster.mosaic.evidence import Evidence, pair_costs
from coterie.cluster.mosaic.starts import Joins
from coterie.constraints import Constraints
from coterie.inference.messages import no_messages, send_messages
from reference import mosaic as naive


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def random_tree(rng, s):
    """Pairs of a random tree over s rows, each of a random kind and weight."""
    pairs = np.array([(int(rng.integers(0, j)), j) for j in range(1, s)])
    must = rng.random(s - 1) < 0.5
    return Constraints(
        s,
        must_link=pairs[must],
        cannot_link=pairs[~must],
        must_weight=rng.uniform(0.2, 2, int(must.sum())),
        cannot_weight=rng.uniform(0.2, 2, int((~must).sum())),
    )


class TestBeliefs:
    @pytest.mark.parametrize("seed", range(10))
    def test_noise_and_score_are_sums_over_pairs_on_trees(self, seed):
        rng = np.random.default_rng(seed)
        s, k = int(rng.integers(2, 7)), int(rng.integers(2, 4))
        evidence = Evidence(random_tree(rng, s), TUNING)
        core, graph, factors = evidence.core, evidence.graph, evidence.factors(0.1)
        logits = rng.normal(size=(s, k))
        prior = softmax(1.0, logits)
        start = no_messages(graph, k, mean_field=False)
        start = start._replace(along=start.along.astype(np.float64))  # no rounding to allow for
        posterior, messages = send_messages(prior, graph, factors, start, sweeps=s, tol=0.0)
        first = np.unique(core.edge_of, return_index=True)[1]
        costs = [cost[first, 0] for cost in evidence.costs(0.1)]
        _, equal = naive.joint(logits, core.edges.tolist(), *costs)

        weights, must = evidence.constraints.weight, evidence.constraints.kind > 0
        kept = (weights * np.where(must, equal, 1 - equal)).sum()
        new = evidence.noise_rate(0.1, messages, posterior)
        first_rate = evidence.first_noise().rate
        wanted = (weights.sum() - kept + first_rate) / (weights.sum() + 1)
        assert new == pytest.approx(min(wanted, 0.45), abs=1e-9)

        score = evidence.log_likelihoods(prior, factors).sum()
        wanted = naive.pair_log_likelihood(logits, core.edges.tolist(), *costs)
        assert score == pytest.approx(wanted, abs=1e-9)

    @pytest.mark.parametrize("seed", range(5))
    def test_doubt_of_a_pair_is_its_posterior_on_trees(self, seed):
        rng = np.random.default_rng(seed)
        known = random_tree(rng, 6)
        problem, _ = posed(rng.normal(size=(6, 3)), known)
        evidence, logits = problem.evidence, rng.normal(size=(6, 3))
        first = np.unique(evidence.core.edge_of, return_index=True)[1]
        costs = [cost[first, 0] for cost in evidence.costs(0.2)]
        _, equal = naive.joint(logits, evidence.core.edges.tolist(), *costs)
        together = ends_together(problem, softmax(1.0, logits), 0.2)
        np.testing.assert_allclose(together, equal, atol=2e-3)  # a small change is not told
        doubts = evidence.suspects(equal)
        rows = [tuple(edge) for edge in evidence.core.edges.tolist()]
        for i, j, kind, wrong in zip(doubts.i, doubts.j, doubts.kind, doubts.value, strict=True):
            chance = equal[rows.index((i, j))]
            assert wrong == pytest.approx(1 - chance if kind > 0 else chance)

    def test_a_pair_that_hard_ones_contradict_is_wrong_for_sure(self):
        tied = Constraints(4, must_link=[(0, 1), (1, 2)]).as_hard()
        evidence = Evidence(tied + Constraints(4, cannot_link=[(0, 2)], must_link=[(2, 3)]), TUNING)
        doubts = evidence.suspects(np.array([0.7]))
        assert [tuple(pair) for pair in zip(doubts.i, doubts.j, strict=True)] == [(0, 2), (2, 3)]
        np.testing.assert_allclose(doubts.value, [1.0, 0.3])

    @pytest.mark.parametrize("engine", ["belief_propagation", "mean_field"])
    def test_messages_are_sent_again_when_the_strength_of_pairs_changes(self, rng, engine):
        problem, _ = posed(rng.normal(size=(6, 3)), random_tree(rng, 6), inference=engine)
        values = rng.normal(size=(6, 3))
        start = judge_field(problem, start_from(problem, np.arange(6) % 3, 3), values, 1.0)
        doubt = problem.noise._replace(rate=0.3)
        first = start
        for _ in range(10):
            first = find_posterior(problem, first)
        moved = find_posterior(problem, first._replace(noise=doubt))
        fresh = find_posterior(problem, start._replace(noise=doubt))
        assert np.abs(moved.nodes - first.nodes).max() > 0.01
        assert moved.nodes == pytest.approx(fresh.nodes, abs=0.01)

    def test_sharpness_maximises_the_likelihood(self, rng):
        values = rng.normal(size=(200, 3))
        targets = np.eye(3)[np.argmax(values + 0.7 * rng.gumbel(size=(200, 3)), axis=1)]
        weights = rng.uniform(0, 2, 200)

        def likelihood(beta):
            logits = beta * values
            logits = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
            return float((weights[:, None] * targets * logits).sum())

        best = fit_sharpness(values, targets, weights, 5.0)
        assert 0.3 < best < 5
        assert likelihood(best) > max(likelihood(best * 0.9), likelihood(best * 1.1))

    def test_hard_pairs_in_the_soft_stage_are_strong_not_infinite(self, rng):
        pairs = Constraints(4, cannot_link=[(0, 1), (1, 2), (2, 3)], cannot_weight=np.inf)
        problem, _ = posed(rng.normal(size=(4, 3)), pairs, max_iter=5, tol=0.0)
        state = form_beliefs(problem, start_from(problem, np.array([0, 1, 0, 1]), 2), 5)
        assert np.isfinite(state.rows).all()
        labels = state.rows.argmax(axis=1)
        assert (labels[:-1] != labels[1:]).all()


class TestEvidence:
    def test_costs_follow_rate_weight_certainty_and_hardness(self):
        pairs = Constraints(
            6,
            must_link=[(0, 1), (2, 3)],
            cannot_link=[(1, 2), (4, 5)],
            must_weight=[2.0, 1.0],
            must_certainty=[np.nan, 0.8],
            cannot_weight=[1.0, np.inf],
        )
        cost = dict(
            zip(
                map(tuple, pairs.pairs.tolist()),
                pair_costs(pairs, 0.1),
                strict=True,
            )
        )
        assert cost[0, 1] == pytest.approx(2 * np.log(9))
        assert cost[2, 3] == pytest.approx(np.log(4))
        assert cost[1, 2] == pytest.approx(np.log(9))
        assert cost[4, 5] == np.inf

    def test_first_rate_falls_with_the_rarer_kind(self):
        few = Constraints(100, must_link=[(0, 1)], cannot_link=[(i, i + 1) for i in range(1, 99)])
        even = Constraints(
            100,
            must_link=[(i, i + 1) for i in range(50)],
            cannot_link=[(i, i + 2) for i in range(50)],
        )
        assert Evidence(even, TUNING).first_noise().rate == pytest.approx(0.01)
        assert Evidence(few, TUNING).first_noise().rate < 0.001

    def test_votes_between_prototypes_are_the_sum_over_pairs(self, rng):
        i, j = rng.integers(0, 30, 60), rng.integers(30, 60, 60)
        pairs = Constraints(60, must_link=np.c_[i, j][:25], cannot_link=np.c_[i, j][25:])
        evidence = Evidence(pairs, TUNING)
        near = rng.integers(0, 5, 60)
        votes = evidence.votes()
        assert votes.sum() == pytest.approx(0.0, abs=1e-9)
        wanted = np.zeros((5, 5))
        for (a, b), vote in zip(pairs.pairs, votes, strict=True):
            wanted[near[a], near[b]] += vote
            wanted[near[b], near[a]] += vote
        assert evidence.between(near, 5, votes) == pytest.approx(wanted)

    def test_joins_solve_the_generalised_eigenproblem(self, rng):
        i, j = rng.integers(0, 20, 50), rng.integers(20, 40, 50)
        known = Constraints(40, np.c_[i, j][:20], np.c_[i, j][20:])
        problem, _ = posed(rng.normal(size=(40, 3)), known)
        evidence, field, gram = problem.evidence, problem.ridge.field, problem.ridge.gram
        mu, values = Joins(problem, 2.0).leading(3, evidence.votes())
        between = evidence.between(field.near, field.n_prototypes, evidence.votes())
        z = field.at_prototypes.astype(float)
        matrix = np.linalg.solve(gram + 2.0 * np.eye(len(gram)), z.T @ between @ z)
        wanted = np.sort(np.linalg.eigvals(matrix).real)[::-1][:3]
        assert mu == pytest.approx(wanted, rel=1e-3)
        assert values.shape == (field.n_prototypes, 3)
