"""The harness passes an honest estimator and catches each kind of broken one."""

from __future__ import annotations

import pytest
import toys

from coterie.exceptions import InvalidModel
from coterie.testing import CHECKS, Capabilities, check_constrained_clusterer, checks_for


def promises(estimator):
    return Capabilities.of(estimator, objective="falls")


CHECK = {check.name: check for check in CHECKS}


@pytest.mark.parametrize("check", checks_for(promises(toys.Toy())), ids=lambda check: check.name)
def test_an_honest_estimator_passes(check):
    check(toys.Toy(), promises(toys.Toy()))


@pytest.mark.parametrize(
    ("broken", "check", "message"),
    [
        (toys.IgnoresConstraints, "check_constraints_matter", "heavy pairs"),
        (toys.IgnoresConstraints, "check_hard_pairs_are_kept", "hard pairs are broken"),
        (toys.IgnoresConstraints, "check_infeasible_is_named", "InfeasibleConstraints"),
        (toys.IgnoresConstraints, "check_violations", "violations_"),
        (toys.BreaksHardPairs, "check_hard_pairs_are_kept", "hard pairs are broken"),
        (toys.IgnoresWeights, "check_weight_is_multiplicity", "weight"),
        (toys.DependsOnPairOrder, "check_numbering_of_rows", "renumbered|row numbers"),
        (toys.MutatesParameters, "check_leaves_its_input_alone", "n_init"),
        (toys.UsesY, "check_y_is_ignored", "y must be ignored"),
        (toys.LosesConstraintsInY, "check_constraints_as_y_are_refused", "into y"),
        (toys.NanObjective, "check_objective_is_monotone", "not finite"),
        (toys.RisingObjective, "check_objective_is_monotone", "one way"),
        (toys.Unseeded, "check_determinism", "differ in"),
        (toys.HidesViolations, "check_violations", "violations_"),
        (toys.AcceptsOtherRows, "check_refuses_constraints_of_other_rows", "refused"),
        (toys.RemembersEarlierFits, "check_refit_forgets", "earlier fit"),
        (toys.FarFromTheOrigin, "check_large_offset", "1e8"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_estimator_is_caught(broken, check, message):
    with pytest.raises(AssertionError, match=message):
        CHECK[check](broken(), promises(broken()))


def test_writing_into_the_rows_is_caught():
    with pytest.raises(ValueError, match="read-only"):
        CHECK["check_leaves_its_input_alone"](toys.MutatesRows(), promises(toys.MutatesRows()))


def test_state_that_is_not_saved_is_caught():
    with pytest.raises(InvalidModel, match="_private_centers"):
        CHECK["check_save_and_load"](
            toys.PredictsFromPrivateState(), promises(toys.PredictsFromPrivateState())
        )


def test_all_checks_at_once_pass_the_honest_and_stop_at_the_broken():
    with pytest.raises(AssertionError):
        check_constrained_clusterer(toys.IgnoresConstraints())


def test_row_weights_that_are_ignored_are_caught():
    check = CHECK["check_sample_weight_is_repetition"]
    check(toys.Weighted(), promises(toys.Weighted()))
    with pytest.raises(AssertionError, match="repeating the row"):
        check(toys.IgnoresRowWeights(), promises(toys.IgnoresRowWeights()))


def test_promises_choose_the_checks():
    every = Capabilities(
        sparse=True,
        predicts=True,
        transforms=True,
        objective="falls",
        sample_weight=True,
        starts=True,
    )
    left_out = {check.name for check in CHECKS} - {check.name for check in checks_for(every)}
    assert left_out == {"check_hard_pairs_are_refused", "check_constraints_are_refused"}
    bare = Capabilities(
        soft=False,
        hard=False,
        n_clusters=None,
        float32=False,
        translation=False,
        scaling=False,
        one_row=False,
    )
    names = {check.name for check in checks_for(bare)}
    assert "check_hard_pairs_are_refused" in names
    assert "check_constraints_matter" in names
    assert not names & {
        "check_hard_pairs_are_kept",
        "check_weight_is_multiplicity",
        "check_scale",
        "check_large_offset",
        "check_grid_search",
        "check_sparse_equals_dense",
        "check_one_row",
    }


def test_capabilities_are_read_off_the_estimator():
    declared = Capabilities.of(toys.Toy())
    assert (declared.n_clusters, declared.sparse) == ("n_clusters", False)
    assert declared.predicts
    assert declared.transforms
    assert not declared.sample_weight
    assert Capabilities.of(toys.Toy(), predicts=False).predicts is False


def test_an_estimator_without_constraints_is_asked_everything_but_what_they_mean():
    can = Capabilities.of(toys.TakesNoPairs(), constraints=False, objective="falls")
    taking = {check.name for check in checks_for(promises(toys.Toy()))}
    asked = {check.name for check in checks_for(can)}
    assert asked - taking == {"check_constraints_are_refused"}
    meaning = {check.name for check in CHECKS if "meaning" in check.function.__module__}
    contract = {
        "check_refuses_constraints_of_other_rows",
        "check_empty_constraints_are_none",
        "check_folds",
    }
    assert taking - asked == (meaning - {"check_hard_pairs_are_refused"}) | contract
    check_constrained_clusterer(toys.TakesNoPairs(), can)


def test_pairs_that_are_taken_and_forgotten_are_caught():
    can = Capabilities.of(toys.Toy(), constraints=False)
    with pytest.raises(AssertionError, match="must be refused with a TypeError"):
        CHECK["check_constraints_are_refused"](toys.Toy(), can)


def test_a_failed_fit_that_leaves_other_labels_is_caught_without_pairs_too():
    can = Capabilities.of(toys.ForgetsOnFailure(), constraints=False)
    with pytest.raises((AssertionError, AttributeError), match="labels_"):
        CHECK["check_failed_fit_leaves_the_model"](toys.ForgetsOnFailure(), can)


def test_a_promise_not_to_take_hard_pairs_is_checked():
    can = promises(toys.Toy())
    with pytest.raises(AssertionError, match="refused"):
        CHECK["check_hard_pairs_are_refused"](toys.Toy(), can)
