"""A situation: what a rule sees."""

import pytest
from helpers.problems import rare_findings
from helpers.solving import join_tree_only
from helpers.strategies import possible_evidence, problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import emc, load_problem
from voilattice.budgets import Deadline
from voilattice.feature_sets import mask_of
from voilattice.policy.situation import Situation, SituationBuilder, situation_at


@pytest.mark.parametrize("q", [1e-80, 1e-106, 1e-107, 1e-108, 1e-150, 1e-300])
def test_a_situation_too_rare_for_the_first_table_has_one_of_its_own(q):
    problem = rare_findings(q, chain=False)
    known = {"X0": "a", "X1": "a", "X2": "a"}
    builder = SituationBuilder(problem)
    situation = builder.at(known)
    assert situation.posterior.sum() == pytest.approx(1.0, abs=1e-12)
    assert situation.emc == pytest.approx(emc(problem, known), rel=1e-9)
    children = builder.children(builder.at({}), 0b111)
    ((belief, table),) = ((b, t) for _, outcome, b, t in children if outcome == (0, 0, 0))
    seen = Situation(builder, known, situation.axes, table, belief)
    assert seen.emc == pytest.approx(emc(problem, known), rel=1e-9)


@examples(60)
@given(problems(max_features=5, max_hidden=2), st.integers(0, 2**32 - 1))
def test_a_situation_without_a_table_says_the_same(problem, seed):
    evidence = possible_evidence(problem, seed)
    seen = situation_at(problem, evidence)
    with join_tree_only():
        bare = situation_at(problem, evidence)
    assert bare.table is None
    assert bare.axes == seen.axes
    assert bare.posterior == pytest.approx(seen.posterior, abs=1e-9)
    assert bare.emc == pytest.approx(seen.emc, abs=1e-9)
    assert bare.decision == seen.decision
    for k in seen.axes:
        one, other = bare.value(1 << k), seen.value(1 << k)
        assert one.features == other.features
        assert one.evi == pytest.approx(other.evi, abs=1e-9)
        assert bare.joint(1 << k) == pytest.approx(seen.joint(1 << k), abs=1e-9)
    both = mask_of(seen.axes[:2])
    assert bare.joint(both) == pytest.approx(seen.joint(both), abs=1e-9)
    assert bare.best() == seen.best()


@pytest.mark.parametrize("seconds", [15.0, 60.0])
def test_a_rare_situation_has_more_time_than_a_pause_of_the_machine(seconds):
    builder = SituationBuilder(load_problem("asia"), deadline=Deadline(seconds))
    assert builder.share_of(0.0, has_table=True).seconds_left > 0.2
    assert builder.share_of(1.0, has_table=True).seconds_left > 0.2 * seconds


def test_the_time_for_a_rare_situation_is_a_small_part_of_little_time():
    builder = SituationBuilder(load_problem("asia"), deadline=Deadline(2.0))
    assert builder.share_of(0.0, has_table=True).seconds_left < 0.05
