"""Lower bounds on the optimum that docs/optimal.md proves, over random problems."""

from dataclasses import replace

import pytest
from helpers.solving import optimum
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import FeatureCosts, emc, value
from voilattice.lattice.independence import relevant_features
from voilattice.model.costs import Group


def slack(cost):
    return 1e-9 * max(1.0, cost)


@pytest.mark.slow
@examples(300)
@given(problem=problems(max_features=5))
def test_the_stop_rule(problem):
    best = optimum(problem).lower_bound
    now = emc(problem)
    left = set(problem.features) - set(problem.evidence)
    everything = value(problem, left).expected_emc
    cheapest = min((least_price(problem, name) for name in left), default=0.0)
    assert best >= min(now, cheapest + everything) - slack(now)
    if now - everything <= cheapest:
        assert best == pytest.approx(now, rel=1e-9, abs=1e-9)


def least_price(problem, name):
    """The lowest own price of a feature, over all evidence, with its discount."""
    conditional = [c.cost for c in problem.costs.conditional if c.feature == name]
    off = sum(d.off.get(name, 0.0) for d in problem.costs.discounts)
    return min([problem.costs.prices[name], *conditional]) - off


@pytest.mark.slow
@examples(200)
@given(problem=problems(max_features=5), mask=st.integers(0, 31), share=st.floats(0, 1))
def test_the_parts_of_a_split_never_cost_more_than_the_whole(problem, mask, share):
    groups = problem.costs.groups
    whole = FeatureCosts(problem.costs.prices, groups)
    total = 0.0
    for part in (0, 1):
        mine = {f for k, f in enumerate(problem.features) if mask >> k & 1 == part}
        prices = {f: price if f in mine else 0.0 for f, price in problem.costs.prices.items()}
        # The overheads belong to the first part.
        overheads = tuple(Group(g.name, 0.0 if part else g.overhead, g.features) for g in groups)
        stakes = (share, 1 - share)[part] * problem.misclassification
        split = replace(problem, costs=FeatureCosts(prices, overheads), misclassification=stakes)
        total += optimum(split).lower_bound
    best = optimum(replace(problem, costs=whole)).lower_bound
    assert total <= best + slack(best)


@pytest.mark.slow
@examples(200)
@given(problem=problems(max_features=5), mask=st.integers(0, 31))
def test_features_given_away_for_nothing_lower_the_optimum_by_at_most_their_price(problem, mask):
    free = {f for k, f in enumerate(problem.features) if mask >> k & 1} - set(problem.evidence)
    prices = problem.costs.prices
    bare = replace(problem, costs=FeatureCosts(prices))
    given_away = FeatureCosts({f: 0.0 if f in free else price for f, price in prices.items()})
    best = optimum(bare).lower_bound
    bound = optimum(replace(problem, costs=given_away)).lower_bound
    assert bound <= best + slack(best)
    assert best <= bound + sum(prices[f] for f in free) + slack(best)


@pytest.mark.slow
@examples(100)
@given(problem=problems(max_features=5))
def test_only_relevant_features_lower_the_optimum(problem):
    relevant = relevant_features(problem)
    if problem.costs.groups or problem.costs.conditional:
        problem = replace(problem, costs=FeatureCosts(problem.costs.prices))
    others = set(problem.features) - relevant - set(problem.evidence)
    best = optimum(problem).lower_bound
    without = optimum(problem.without(others)).lower_bound if others else best
    assert without == pytest.approx(best, rel=1e-9, abs=1e-9)
