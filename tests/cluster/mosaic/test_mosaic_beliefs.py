"""What Mosaic's rows believe, by field and pairs, against naive twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mosaic_fields import small_field

from coterie.cluster.mosaic import _kernels as kernels
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Ridge
from coterie.cluster.mosaic.soft import SoftStage, fit_sharpness, softmax
from coterie.cluster.mosaic.starts import Joins
from coterie.constraints import Constraints
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
    @pytest.mark.parametrize("seed", range(20))
    def test_propagation_is_exact_on_trees(self, seed):
        rng = np.random.default_rng(seed)
        s, k = int(rng.integers(2, 7)), int(rng.integers(2, 4))
        evidence = Evidence(random_tree(rng, s))
        core = evidence.core
        logits = rng.normal(size=(s, k))
        same, differ = evidence.costs(0.1)
        together, apart = evidence.chances(0.1)
        messages, beliefs = np.ones((core.indices.size, k)), np.empty((s, k))
        alone, told = softmax(1.0, logits), np.zeros((s, k))
        kernels.propagate(
            alone, core.indptr, together, apart, evidence.twin, s, 0.0, messages, told, beliefs
        )
        first = np.unique(core.edge_of, return_index=True)[1]
        costs = same[first, 0], differ[first, 0]
        marginals, equal = naive.joint(logits, core.edges.tolist(), *costs)
        assert beliefs == pytest.approx(marginals, abs=1e-9)

        weights = evidence.constraints.weight
        must = evidence.constraints.kind > 0
        kept = (weights * np.where(must, equal, 1 - equal)).sum()
        new = evidence.noise_rate(0.1, messages, beliefs)
        wanted = (weights.sum() - kept + 4 * evidence.first_rate()) / (weights.sum() + 4)
        assert new == pytest.approx(min(wanted, 0.45), abs=1e-9)

        score = evidence.log_likelihood(alone, (together, apart))
        wanted = naive.pair_log_likelihood(logits, core.edges.tolist(), *costs)
        assert score == pytest.approx(wanted, abs=1e-9)

    def test_mean_field_ends_at_its_own_equation(self, rng):
        evidence = Evidence(random_tree(rng, 6))
        core = evidence.core
        logits, beliefs = rng.normal(size=(6, 3)), np.empty((6, 3))
        heard, told = np.zeros((6, 3)), np.zeros((6, 3))
        same, differ = evidence.costs(0.2)
        pull, alone = evidence.pull(0.2), softmax(1.0, logits)
        kernels.mean_field(alone, core.indptr, core.indices, pull, 200, 0.0, heard, told, beliefs)
        for i in range(6):
            total = logits[i].copy()
            for e in range(core.indptr[i], core.indptr[i + 1]):
                total += (differ[e, 0] - same[e, 0]) * beliefs[core.indices[e]]
            wanted = np.exp(total) / np.exp(total).sum()
            assert beliefs[i] == pytest.approx(wanted, abs=1e-9)

    def test_silence_saves_messages_and_changes_little(self, rng):
        """From messages that have settled, unchanged nodes say nothing; then one node changes."""
        groups = rng.integers(0, 3, 300)
        i, j = rng.integers(0, 300, 900), rng.integers(0, 300, 900)
        i, j = i[i != j], j[i != j]
        same = groups[i] == groups[j]
        evidence = Evidence(Constraints(300, np.c_[i, j][same], np.c_[i, j][~same]))
        core = evidence.core
        s = core.n_nodes
        logits = 2.0 * np.eye(3)[groups[core.rows]] + rng.normal(size=(s, 3))
        found, other = {}, (groups[core.rows[0]] + 1) % 3
        for tol in (0.0, 1e-3):
            messages, told = np.ones((core.indices.size, 3), dtype=np.float32), np.zeros((s, 3))
            beliefs, sent = np.empty((s, 3)), []
            for shift in (0.0, 0.0, 30.0):
                logits[0, other] += shift
                sent.append(
                    kernels.propagate(
                        softmax(1.0, logits),
                        core.indptr,
                        *evidence.chances(0.05),
                        evidence.twin,
                        30,
                        tol,
                        messages,
                        told,
                        beliefs,
                    )
                )
            logits[0, other] -= 30.0
            found[tol] = beliefs, sent
        loud, quiet = found[0.0][1], found[1e-3][1]
        assert quiet[0] < 0.5 * loud[0]
        assert quiet[1] == 0 < quiet[2] < 0.5 * core.indices.size
        assert found[1e-3][0] == pytest.approx(found[0.0][0], abs=0.02)

    @pytest.mark.parametrize("engine", ["belief_propagation", "mean_field"])
    def test_pairs_are_said_again_when_their_strength_changes(self, rng, engine):
        evidence = Evidence(random_tree(rng, 6))
        _, field = small_field(rng, n=6, count=6)
        stage = SoftStage(Ridge(field, np.ones(6), 0.1, rng), evidence, np.ones(6), engine, None)
        values = rng.normal(size=(6, 3))
        first = stage.look(stage.start(np.arange(6) % 3, 3), values, 1.0)
        for _ in range(10):
            first = stage.listen(first)
        moved = stage.listen(replace(first, rate=0.3))
        fresh = stage.look(stage.start(np.arange(6) % 3, 3), values, 1.0)
        fresh = stage.listen(replace(fresh, rate=0.3))
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
        evidence = Evidence(pairs)
        _, field = small_field(rng, n=4, count=4)
        ridge = Ridge(field, np.ones(4), 0.1, rng)
        stage = SoftStage(ridge, evidence, np.ones(4), "auto", None)
        state = stage.run(stage.start(np.array([0, 1, 0, 1]), 2), 5, 0.0)
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
            zip(map(tuple, pairs.pairs.tolist()), Evidence(pairs).pair_cost(0.1), strict=True)
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
        assert Evidence(even).first_rate() == pytest.approx(0.01)
        assert Evidence(few).first_rate() < 0.001

    def test_votes_between_prototypes_are_the_sum_over_pairs(self, rng):
        i, j = rng.integers(0, 30, 60), rng.integers(30, 60, 60)
        pairs = Constraints(60, must_link=np.c_[i, j][:25], cannot_link=np.c_[i, j][25:])
        evidence = Evidence(pairs)
        near = rng.integers(0, 5, 60)
        votes = evidence.votes()
        assert votes.sum() == pytest.approx(0.0, abs=1e-9)
        wanted = np.zeros((5, 5))
        for (a, b), vote in zip(pairs.pairs, votes, strict=True):
            wanted[near[a], near[b]] += vote
            wanted[near[b], near[a]] += vote
        assert evidence.between(near, 5, votes) == pytest.approx(wanted)

    def test_standard_error_of_a_lead_is_that_of_a_sum_over_pairs(self, rng):
        evidence = Evidence(random_tree(rng, 8))
        one, two = rng.dirichlet(np.ones(3), 8), rng.dirichlet(np.ones(3), 8)
        together, apart = evidence.chances(0.1)
        first = np.unique(evidence.core.edge_of, return_index=True)[1]
        gaps = []
        for (i, j), e in zip(evidence.core.edges, first, strict=True):
            here, there = one[i] @ one[j], two[i] @ two[j]
            chance = together[e] * here + apart[e] * (1 - here)
            gaps.append(np.log(chance / (together[e] * there + apart[e] * (1 - there))))
        wanted = np.std(gaps) * np.sqrt(len(gaps))
        found = evidence.lead_error(one, two, (together, apart))
        assert found == pytest.approx(wanted)

    def test_joins_solve_the_generalised_eigenproblem(self, rng):
        _, field = small_field(rng)
        i, j = rng.integers(0, 20, 50), rng.integers(20, 40, 50)
        evidence = Evidence(Constraints(40, np.c_[i, j][:20], np.c_[i, j][20:]))
        ridge = Ridge(field, np.ones(40), 0.1, rng)
        joins = Joins(ridge, evidence, 2.0)
        mu, values = joins.leading(3)
        between = evidence.between(field.near, len(field.prototypes), evidence.votes())
        z = field.at_prototypes.astype(float)
        right = ridge.gram + 2.0 * np.eye(len(ridge.gram))
        matrix = np.linalg.solve(right, z.T @ between @ z)
        wanted = np.sort(np.linalg.eigvals(matrix).real)[::-1][:3]
        assert mu == pytest.approx(wanted, rel=1e-3)
        assert values.shape == (len(field.prototypes), 3)
