import itertools

import numpy as np
import pytest
from helpers.strategies import full_joint, networks
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Network
from voilattice.budgets import memory_limit
from voilattice.errors import TooLargeError
from voilattice.model.elimination import ancestors, joint_table, prior, scaled_joint_table


@pytest.mark.slow
@given(networks(), st.data())
def test_tables_equal_sums_over_the_full_joint(network, data):
    roles = data.draw(
        st.lists(st.sampled_from("ke."), min_size=len(network), max_size=len(network))
    )
    keep = data.draw(st.permutations([i for i, role in enumerate(roles) if role == "k"]))
    evidence = {
        i: data.draw(st.integers(0, network.n_states[i] - 1))
        for i, role in enumerate(roles)
        if role == "e"
    }
    joint = full_joint(network)
    cut = joint[tuple(evidence.get(i, slice(None)) for i in range(len(network)))]
    left = [i for i in range(len(network)) if i not in evidence]
    summed = cut.sum(axis=tuple(k for k, i in enumerate(left) if i not in keep))
    expected = summed.transpose(np.argsort(np.argsort(keep)) if keep else [])
    np.testing.assert_allclose(joint_table(network, keep, evidence), expected, atol=1e-12)


def test_prior_of_a_root_is_its_table():
    network = Network.from_tables({"A": ["T", "F"]}, {}, {"A": [0.2, 0.8]})
    assert prior(network, 0).tolist() == [0.2, 0.8]


def long_chain(n):
    names = [f"V{k}" for k in range(n)]
    return Network.from_tables(
        {name: ["T", "F"] for name in names},
        {b: [a] for a, b in itertools.pairwise(names)},
        {name: [0.5, 0.5] if k == 0 else [[0.9, 0.1], [0.2, 0.8]] for k, name in enumerate(names)},
    )


def test_hundreds_of_nodes_work():
    network = long_chain(300)
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    expected = np.array([0.5, 0.5]) @ np.linalg.matrix_power(step, 299)
    np.testing.assert_allclose(joint_table(network, [299], {}), expected, atol=1e-12)
    assert ancestors(network, {3}) == {0, 1, 2, 3}


def test_evidence_too_unlikely_for_a_double_still_has_a_posterior():
    n = 1000
    names = ["Y", *(f"X{k}" for k in range(n))]
    network = Network.from_tables(
        {name: ["a", "b", "c"] for name in names},
        {name: ["Y"] for name in names[1:]},
        {
            name: [0.2, 0.3, 0.5] if name == "Y" else [[0.1, 0.2, 0.7]] * 2 + [[0.09, 0.21, 0.7]]
            for name in names
        },
    )
    table, exponent = scaled_joint_table(network, [0], {k + 1: 0 for k in range(n)})
    assert exponent < -3000  # P(e) is about 1e-1000
    np.testing.assert_allclose((table / table.sum())[:2], [0.4, 0.6], atol=1e-12)


def test_a_table_beyond_the_budget_is_refused_before_it_is_made():
    with pytest.raises(
        TooLargeError,
        match="exact inference would need a table over 40 nodes, .*ask for fewer features",
    ):
        joint_table(long_chain(80), range(40), {})


def test_a_tiny_budget_is_not_rounded_to_nothing():
    said = "a table over 10 nodes, .* KiB; the budget is .* nodes and 512 bytes"
    with memory_limit(512), pytest.raises(TooLargeError, match=said):
        joint_table(long_chain(20), range(10), {})


def test_only_ancestors_take_part():
    # The child of 15 roots joins them all in a table of 2^16 cells; without it nothing does.
    roots = [f"R{k}" for k in range(15)]
    network = Network.from_tables(
        {name: ["T", "F"] for name in [*roots, "C"]},
        {"C": roots},
        {name: [0.3, 0.7] for name in roots} | {"C": np.full((2,) * 16, 0.5)},
    )
    with memory_limit(1000):
        assert joint_table(network, [0, 3], {}).shape == (2, 2)
        with pytest.raises(TooLargeError, match=r"\(memory_limit\)"):
            joint_table(network, [15], {})


@pytest.mark.slow
def test_a_long_chain_is_eliminated_in_order():
    assert joint_table(long_chain(5000), [4999], {}).sum() == pytest.approx(1)


def test_a_product_of_tiny_tables_keeps_its_digits():
    names = ["Y", "A", "B", "C"]
    tables = {"Y": [0.5, 0.5], "C": [[1e-20, 1], [1, 0]]}
    tables |= {n: [[1e-150, 1], [1e-160, 1]] for n in "AB"}
    network = Network.from_tables(
        {n: ["a", "b"] for n in names}, {n: ["Y"] for n in names[1:]}, tables
    )
    table = scaled_joint_table(network, [0], {1: 0, 2: 0, 3: 0}).table
    assert table / table.sum() == pytest.approx([0.5, 0.5], rel=1e-9)
