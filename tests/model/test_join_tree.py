"""Two passes over a join tree say what elimination and pyAgrum say."""

import math

import numpy as np
import pytest
from helpers.strategies import networks
from hypothesis import given
from hypothesis import strategies as st

from voilattice.model.elimination import scaled_joint_table
from voilattice.model.join_tree import JoinTree

ENGINES = ["python", "compiled"]


def expected(network, target, features, evidence, known):
    """P(Y | e), P(Y, X_i | e) and log P(e) by one elimination for each feature."""
    e = dict(evidence)
    m, width = network.n_states[target], max(network.n_states[f] for f in features)
    belief, pairs = np.zeros(m), np.zeros((len(features), width, m))
    for feature, state in zip(features, known, strict=True):
        if state >= 0 and e.setdefault(feature, state) != state:
            return belief, pairs, -math.inf
    table, exponent = scaled_joint_table(network, [target], e)
    if not table.any():
        return belief, pairs, -math.inf
    total = table.sum()
    belief = table / total
    for k, feature in enumerate(features):
        if feature in e:
            pairs[k, e[feature]] = belief
        else:
            joint = scaled_joint_table(network, [target, feature], e).table.T
            pairs[k, : len(joint)] = joint / joint.sum()
    return belief, pairs, math.log(total) + exponent * math.log(2)


def assert_same(found, wanted):
    np.testing.assert_allclose(found.belief, wanted[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.pairs, wanted[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.log_probability, wanted[2], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@given(networks(min_nodes=2), st.data())
def test_posteriors_equal_those_of_elimination(engine, network, data):
    nodes = data.draw(st.permutations(range(len(network))))
    n = data.draw(st.integers(1, len(network) - 1))
    target, features, others = nodes[0], nodes[1 : n + 1], nodes[1:]
    state = st.sampled_from(others).flatmap(
        lambda node: st.tuples(st.just(node), st.integers(0, network.n_states[node] - 1))
    )
    evidence = dict(data.draw(st.lists(state, max_size=2)))
    tree = JoinTree(network, target, features, evidence, engine=engine)
    rows = []
    for _ in range(3):
        known = [data.draw(st.integers(-1, network.n_states[f] - 1)) for f in features]
        assert_same(tree.posteriors(known), expected(network, target, features, evidence, known))
        rows.append(known)
    together = tree.posteriors_of(rows)
    for k, known in enumerate(rows):
        for mine, theirs in zip(tree.copy().posteriors(known), together, strict=True):
            np.testing.assert_allclose(mine, theirs[k], rtol=1e-12, atol=1e-15)
