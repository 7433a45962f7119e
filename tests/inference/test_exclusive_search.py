"""Labels under exclusive groups against enumeration and against their pairs written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from coterie.inference import NodeGroups, NoFeasibleLabels, group_energy, label_with_groups
from coterie.inference.model import energy, pairwise_model


def problem(seed, *, edges, shared, hard):
    """Six nodes, three labels, two groups; edges between nodes and a shared node on request."""
    rng = np.random.default_rng(seed)
    pairs = [(0, 4), (2, 5), (1, 3)] if edges else []
    indptr, indices, same, differ = [0], [], [], []
    cost = {pair: rng.uniform(0, 1, 2) for pair in pairs}
    for node in range(6):
        for pair in pairs:
            if node in pair:
                indices.append(sum(pair) - node)
                same.append(cost[pair][0])
                differ.append(cost[pair][1])
        indptr.append(len(indices))
    model = pairwise_model(rng.normal(size=(6, 3)), indptr, np.array(indices, int), same, differ)
    groups = [[0, 1, 2], [2, 3] if shared else [3, 4]]
    weight = np.array([np.inf, np.inf]) if hard else rng.uniform(0.1, 1.0, 2)
    ptr = np.array([0, 3, 5])
    return model, NodeGroups(ptr, np.concatenate(groups), weight)


def total(model, groups, labels):
    return energy(model, labels) + group_energy(groups, labels)


def best(model, groups):
    return min(
        (total(model, groups, np.array(labels)) for labels in product(range(3), repeat=6)),
    )


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_separate_groups_are_labelled_at_least_energy_with_a_proof(seed, hard):
    model, groups = problem(seed, edges=False, shared=False, hard=hard)
    labels, proven = label_with_groups(model, groups, None, 0)
    assert proven
    assert total(model, groups, labels) == pytest.approx(best(model, groups))


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_shared_nodes_and_edges_never_raise_the_energy(seed, hard):
    model, groups = problem(seed, edges=True, shared=True, hard=hard)
    scratch, proven = label_with_groups(model, groups, None, 0)
    assert not proven
    found = total(model, groups, scratch)
    assert np.isfinite(found)
    start = np.array([2, 1, 0, 2, 1, 0])
    better, _ = label_with_groups(model, groups, start, 0)
    assert total(model, groups, better) <= total(model, groups, start) + 1e-12
    for labels in (scratch, better):  # no group can do better beside the others
        for h in range(2):
            for own in product(range(3), repeat=groups.members(h).size):
                other = labels.copy()
                other[groups.members(h)] = own
                assert total(model, groups, other) >= total(model, groups, labels) - 1e-9


def test_labels_that_break_a_hard_group_are_not_gone_on_from():
    model, groups = problem(0, edges=True, shared=True, hard=True)
    labels, _ = label_with_groups(model, groups, np.zeros(6, dtype=np.int64), 0)
    assert np.isfinite(total(model, groups, labels))


def test_the_energy_of_groups_is_that_of_their_pairs():
    groups = NodeGroups(np.array([0, 4, 6]), np.array([0, 1, 2, 3, 3, 4]), np.array([2.0, 5.0]))
    assert group_energy(groups, np.array([1, 1, 1, 0, 0])) == 3 * 2.0 + 5.0
    assert group_energy(groups, np.array([0, 1, 2, 3, 4])) == 0.0


def test_more_nodes_than_labels_are_refused():
    model = pairwise_model(np.zeros((4, 3)), [0, 0, 0, 0, 0], np.empty(0, int), [], [])
    with pytest.raises(NoFeasibleLabels):
        label_with_groups(
            model, NodeGroups(np.array([0, 4]), np.arange(4), np.array([np.inf])), None, 0
        )
