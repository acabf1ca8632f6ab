import pytest
from helpers.strategies import problems
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import apply_policy, build_policy, load_problem
from voilattice.budgets import Deadline
from voilattice.cases.completion import complete_policy


@settings(max_examples=25, deadline=None)
@given(problems(), st.integers(1, 6), st.sampled_from(["optimal", "greedy", "greedy-la"]))
def test_a_completed_policy_has_no_open_leaves_and_costs_no_more(problem, max_states, name):
    cut = build_policy(problem, name, max_states=max_states)
    done = complete_policy(cut)
    assert done.open_share == 0
    assert done.expected_total_cost <= cut.expected_total_cost + 1e-9
    assert done.lower_bound == cut.lower_bound
    assert done.is_complete
    if not cut.open_share:
        assert (done.nodes, done.certificate) == (cut.nodes, cut.certificate)


def test_without_time_leaves_stay_open_and_are_planned_when_a_case_comes_there():
    heart = load_problem("heart")
    cut = build_policy(heart, "optimal", max_states=1)
    done = complete_policy(cut, time_limit=0)
    assert done.open_share == 1
    case = {name: [heart.states(name)[0]] for name in heart.features}
    alone = apply_policy("greedy", case, problem=heart)
    for followed in (apply_policy(done, case, time_limit=0), apply_policy(done, case)):
        assert followed.bought.tolist() == alone.bought.tolist() != [()]
        assert not followed.unfinished.any()  # no clock decides


def test_another_policy_plans_beyond_the_tree():
    heart = load_problem("heart")
    policy = build_policy(heart, "optimal")
    (first,) = policy.root.features
    case = {name: [heart.states(name)[0]] for name in heart.features if name != first}
    mixed = apply_policy(policy, case, planner="greedy")
    assert mixed.lacking.tolist() == [{first}]
    assert mixed.replanned.tolist() == [True]
    alone = apply_policy("greedy", case, problem=heart.without([first]))
    assert mixed.bought.tolist() == alone.bought.tolist()
    with pytest.raises(KeyError, match="no policy 'odd'"):
        apply_policy(policy, case, planner="odd")


def test_progress_may_end_a_search():
    from voilattice.optimal.search.trials import Search

    calls = []

    def stop(n_states, interval):
        calls.append(interval)
        return True

    search = Search(load_problem("hepatitis"))
    search.run(Deadline(20), progress=stop)
    assert len(calls) == 1
