import numpy as np
import pytest

from voilattice import Problem, apply_policy, build_policy
from voilattice.learning import as_table, decision_trees, learn_network
from voilattice.learning.decision_trees import grow_tree_network
from voilattice.learning.preparation import prepare_cases
from voilattice.learning.recipes import NAMED
from voilattice.model.elimination import joint_table

RECIPE = NAMED["decision-tree"]


def draw(n=600, seed=0):
    """A rule with thresholds and an exception: y = (a > 1.3 and c is red) or b = yes."""
    rng = np.random.default_rng(seed)
    a, noise = rng.normal(size=n), rng.normal(size=n)
    b = rng.choice(["yes", "no"], n, p=[0.2, 0.8])
    c = rng.choice(["red", "green", "blue"], n)
    y = ((a > 0.3) & (c == "red")) | (b == "yes")
    return {"a": a, "b": b, "c": c, "noise": noise, "y": np.where(y, "ill", "well")}


def prepared(table):
    return prepare_cases(as_table(table), "y", RECIPE)


def test_the_target_depends_on_what_the_tree_tests():
    found = grow_tree_network(prepared(draw()), 1.0)
    columns = list(found.cases.states)
    assert {columns[p] for p in found.parents[columns.index("y")]} == {"a", "b", "c"}
    assert found.parents[columns.index("noise")] == ()


def test_the_thresholds_of_the_tree_are_the_bins():
    cuts = grow_tree_network(prepared(draw()), 1.0).cases.cuts["a"]
    assert min(abs(cut - 0.3) for cut in cuts) < 0.05
    assert len(cuts) <= 2


def test_the_network_says_what_the_rule_says():
    learned = learn_network(draw(), "y", RECIPE)
    problem = Problem.create(
        learned.network, "y", dict.fromkeys("abc", 1.0) | {"noise": 1.0}, ("symmetric", 100),
        bins=learned.cuts,
    )  # fmt: skip
    table = draw(200, seed=9)
    applied = apply_policy(build_policy(problem, "optimal"), table, strict=False)
    assert (applied.decision == table["y"]).mean() > 0.97
    assert not any("noise" in bought for bought in applied.bought)


def test_a_leaf_is_drawn_towards_the_node_above_it():
    """One feature that decides: by hand, the leaf of 'no' with s = 1, and the root above it."""
    y = ["well"] * 30 + ["ill"] * 10
    x = ["no"] * 28 + ["yes"] * 2 + ["yes"] * 10
    found = grow_tree_network(prepared({"x": x, "y": y}), 1.0)
    root = (np.array([10, 30]) + 0.5) / 41
    leaf = (np.array([0, 28]) + root) / 29
    np.testing.assert_allclose(found.target_table[0], leaf)


def test_only_as_many_features_as_the_table_can_hold(monkeypatch):
    monkeypatch.setattr(decision_trees, "MAX_ROWS", 6)
    found = grow_tree_network(prepared(draw()), 1.0)
    assert 1 < found.target_table[..., 0].size <= 6


def test_a_tree_that_tests_nothing_leaves_the_shares():
    table = {"x": ["p", "q", "q", "p"] * 10, "y": ["a", "b", "a", "b"] * 10}
    found = grow_tree_network(prepared(table), 1.0)
    np.testing.assert_allclose(found.target_table, [0.5, 0.5])
    network = learn_network(table, "y", RECIPE).network
    np.testing.assert_allclose(joint_table(network, [network.index("y")], {}), [0.5, 0.5])


def test_missing_cells_stand_in_the_middle():
    table = draw(300)
    table["a"][::9] = np.nan
    table["c"] = np.where(np.arange(300) % 11 == 0, "", table["c"])
    found = grow_tree_network(prepared(table), 1.0)
    assert found.cases.codes["a"][0] == -1
    assert min(abs(cut - 0.3) for cut in found.cases.cuts["a"]) < 0.1


def test_a_case_of_weight_two_counts_twice():
    """By hand, as for the leaf above: 28 rows of 'no' count twice, all others once."""
    table = {"x": ["no"] * 28 + ["yes"] * 12, "y": ["well"] * 30 + ["ill"] * 10}
    weights = np.where(np.arange(40) < 28, 2.0, 1.0)
    cases = prepare_cases(as_table(table), "y", RECIPE, weights=weights)
    root = (np.array([10, 58]) + 0.5) / 69
    found = grow_tree_network(cases, 1.0).target_table
    np.testing.assert_allclose(found[0], (np.array([0, 56]) + root) / 57)
    np.testing.assert_allclose(found[1], (np.array([10, 2]) + root) / 13)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e16, 1e39, 1e300])
def test_the_tree_does_not_depend_on_the_unit(scale):
    table = draw(300)
    plain = grow_tree_network(prepared(table), 1.0)
    scaled = grow_tree_network(prepared(table | {"a": table["a"] * scale}), 1.0)
    np.testing.assert_allclose(scaled.target_table, plain.target_table)
    np.testing.assert_allclose(
        np.array(scaled.cases.cuts["a"]) / scale, plain.cases.cuts["a"], rtol=1e-9
    )


def test_large_whole_numbers_stay_apart():
    a = np.repeat(np.arange(40.0), 10) + 2e9
    found = grow_tree_network(prepared({"a": a, "y": np.where(a >= 2e9 + 17, "hi", "lo")}), 1.0)
    [cut] = found.cases.cuts["a"]
    assert 2e9 + 16 < cut <= 2e9 + 17


@pytest.mark.parametrize("seed", range(3))
def test_a_value_at_a_threshold_is_in_the_upper_bin(seed):
    """The rows of the table must go by the bins."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 10, 400).astype(float)
    table = {"a": a, "y": np.where(a >= 5, "high", "low")}
    found = grow_tree_network(prepared(table), 1.0)
    [cut] = found.cases.cuts["a"]
    assert 4 < cut <= 5
    assert found.target_table[0].argmax() != found.target_table[1].argmax()
