"""Two passes over a join tree say what elimination and pyAgrum say."""

import math

import numpy as np
import pyagrum
import pytest
from helpers.strategies import DATA, needs_data, networks
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Network, engines, read_network
from voilattice.budgets import memory_limit
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.model import join_tree
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.join_tree import JoinTree

ENGINES = ["python", "compiled"]

each_engine = pytest.mark.parametrize("engine", ENGINES)


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


@pytest.mark.slow
@each_engine
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
        fresh = JoinTree(network, target, features, evidence, engine=engine)
        for mine, theirs in zip(fresh.posteriors(known), together, strict=True):
            np.testing.assert_allclose(mine, theirs[k], rtol=1e-12, atol=1e-15)


def sampled(network, rng):
    """A state of every node."""
    case = {}
    while len(case) < len(network):
        for node, parents in enumerate(network.parents):
            if node not in case and all(p in case for p in parents):
                row = network.tables[node][tuple(case[p] for p in parents)]
                case[node] = int(rng.choice(len(row), p=row))
    return case


TARGETS = {"asia": "lung", "child": "Disease", "alarm": "LVFAILURE", "hepar2": "Cirrhosis"}


@needs_data
@pytest.mark.parametrize("name", TARGETS)
def test_posteriors_equal_those_of_lazy_propagation(name):
    network = read_network(DATA / "networks" / f"{name}.bif")
    states = tuple(tuple(f"s{k}" for k in range(n)) for n in network.n_states)
    network = Network(network.names, states, network.parents, network.tables)  # pyAgrum's labels
    bn = network.to_pyagrum()
    target = network.index(TARGETS[name])
    features = [node for node in range(len(network)) if node != target]
    trees = [JoinTree(network, target, features, engine=engine) for engine in ENGINES]
    lazy = pyagrum.LazyPropagation(bn)
    lazy.addTarget(target)
    for node in features:
        lazy.addJointTarget({target, node})
    rng = np.random.default_rng(20110201)
    for count in (0, 1, 3, 6):
        case = sampled(network, rng)
        told = rng.choice(features, count, replace=False).tolist()
        lazy.setEvidence({network.names[node]: case[node] for node in told})
        lazy.makeInference()
        belief = lazy.posterior(target).toarray()
        known = [case[node] if node in told else -1 for node in features]
        for tree in trees:
            found = tree.posteriors(known)
            np.testing.assert_allclose(found.belief, belief, atol=1e-9)
            for k, node in enumerate(features):
                if node in told:
                    continue
                theirs = lazy.jointPosterior({target, node})
                axes = list(reversed(theirs.names))
                table = theirs.toarray()
                if axes[0] == network.names[target]:
                    table = table.T
                np.testing.assert_allclose(found.pairs[k, : len(table)], table, atol=1e-9)


def naive_bayes(n, rows, prior=(0.5, 0.5)):
    names = [f"X{k}" for k in range(n)]
    return Network.from_tables(
        {"Y": ["T", "F"], **{name: ["T", "F"] for name in names}},
        {name: ["Y"] for name in names},
        {"Y": list(prior), **dict.fromkeys(names, rows)},
    )


@each_engine
def test_a_clique_of_naive_bayes_is_one_feature(engine):
    tree = JoinTree(naive_bayes(5, [[0.9, 0.1], [0.2, 0.8]]), 0, range(1, 6), engine=engine)
    assert tree.clique_sizes == [2] * 5
    assert repr(tree) == "<JoinTree: 5 cliques, 20 cells>"
    found = tree.posteriors([0, 1, -1, -1, -1])
    assert found.belief == pytest.approx([0.36, 0.64])  # 0.9 * 0.1 to 0.2 * 0.8
    assert found.pairs[2].tolist() == pytest.approx(np.array([[0.324, 0.128], [0.036, 0.512]]))
    assert math.exp(found.log_probability) == pytest.approx(0.125)


@each_engine
def test_hundreds_of_unlikely_findings_do_not_underflow(engine):
    # Half of the findings make each class unlikely by 1e-750, so neither class can wait for the
    # other; one last finding decides.
    n = 1001
    network = naive_bayes(n, [[1e-3, 1 - 1e-3], [2e-3, 1 - 2e-3]])
    tables = list(network.tables)
    for node in range(1, n // 2 + 1):
        tables[node] = tables[node][::-1]
    network = Network(network.names, network.states, network.parents, tuple(tables))
    tree = JoinTree(network, 0, range(1, n + 1), engine=engine)
    found = tree.posteriors([0] * n)
    assert found.belief == pytest.approx([1 / 3, 2 / 3])
    assert found.log_probability == pytest.approx(
        n * math.log(1e-3) + (n // 2) * math.log(2) + math.log(1.5)
    )
    assert tree.posteriors([0] * (n - 1) + [-1]).pairs[-1].sum() == pytest.approx(1.0)


@each_engine
def test_hidden_nodes_with_hundreds_of_findings_do_not_underflow(engine):
    # Y -> H -> X_k: all findings meet in one clique.
    n = 600
    names = [f"X{k}" for k in range(n)]
    network = Network.from_tables(
        {"Y": ["T", "F"], "H": ["T", "F"], **{name: ["T", "F"] for name in names}},
        {"H": ["Y"], **{name: ["H"] for name in names}},
        {
            "Y": [0.5, 0.5],
            "H": [[0.9, 0.1], [0.2, 0.8]],
            **{
                name: [[1e-3, 1 - 1e-3], [1e-5, 1 - 1e-5]][:: 1 if k % 2 else -1]
                for k, name in enumerate(names)
            },
        },
    )
    tree = JoinTree(network, 0, range(2, n + 2), engine=engine)
    found = tree.posteriors([0] * n)
    assert found.belief == pytest.approx([0.5, 0.5])  # H is as likely as before
    assert found.log_probability == pytest.approx(n // 2 * math.log(1e-8))
    found = tree.posteriors([0] * (n - 1) + [-1])
    joint = np.array([[0.9, 0.2], [0.1, 0.8]]) * [[1e-5], [1e-3]]  # H, Y; X_{n-1} speaks for T
    assert found.belief == pytest.approx(joint.sum(axis=0) / joint.sum())


@each_engine
def test_impossible_evidence_has_probability_zero(engine):
    network = naive_bayes(3, [[1.0, 0.0], [1.0, 0.0]])
    tree = JoinTree(network, 0, [1, 2, 3], engine=engine)
    for known in ([1, -1, -1], [1, 0, 1]):
        found = tree.posteriors(known)
        assert not found.belief.any()
        assert not found.pairs.any()
        assert found.log_probability == -math.inf
    assert tree.posteriors([0, -1, -1]).belief.tolist() == [0.5, 0.5]  # and the tree recovers


@each_engine
def test_evidence_from_the_start_is_known(engine):
    network = naive_bayes(2, [[0.9, 0.1], [0.2, 0.8]])
    tree = JoinTree(network, 0, [1, 2], {1: 0}, engine=engine)
    open_tree = JoinTree(network, 0, [1, 2], engine=engine)
    for known in ([-1, -1], [0, 1]):
        mine, theirs = tree.posteriors(known), open_tree.posteriors([0, known[1]])
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-15)
    assert tree.posteriors([1, -1]).log_probability == -math.inf  # it contradicts


@each_engine
def test_products_too_small_for_a_double_are_eliminated_instead(engine):
    network = Network.from_tables(
        {"Y": ["T", "F"], "A": ["T", "F"], "B": ["T", "F"]},
        {"B": ["A"], "Y": ["A"]},
        {
            "A": [1e-200, 1 - 1e-200],
            "B": [[1e-200, 1 - 1e-200], [0.0, 1.0]],
            "Y": [[0.9, 0.1], [0.2, 0.8]],
        },
    )
    tree = JoinTree(network, 0, [1, 2], engine=engine)
    assert tree.is_extreme
    found = tree.posteriors([-1, 0])
    assert found.belief == pytest.approx([0.9, 0.1])
    assert found.pairs[0].tolist() == pytest.approx(np.array([[0.9, 0.1], [0.0, 0.0]]))
    assert found.log_probability == pytest.approx(2 * math.log(1e-200))


@needs_data
@each_engine
def test_what_was_asked_before_changes_nothing(engine):
    network = read_network(DATA / "networks" / "alarm.bif")
    target = network.index("LVFAILURE")
    features = [node for node in range(len(network)) if node != target]
    tree = JoinTree(network, target, features, engine=engine)
    rng = np.random.default_rng(7)
    known = np.full(len(features), -1)
    for _ in range(40):  # findings come and go
        k = int(rng.integers(len(features)))
        known[k] = -1 if known[k] >= 0 else rng.integers(network.n_states[features[k]])
        fresh = JoinTree(network, target, features, engine=engine)
        for mine, theirs in zip(tree.posteriors(known), fresh.posteriors(known), strict=True):
            assert np.array_equal(mine, theirs)


@each_engine
def test_many_rows_are_shared_by_threads(engine, monkeypatch):
    monkeypatch.setattr(join_tree, "CELLS_PER_TASK", 100)
    monkeypatch.setattr(join_tree, "CELLS_AT_ONCE", 20)
    tree = JoinTree(naive_bayes(5, [[0.9, 0.1], [0.2, 0.8]]), 0, range(1, 6), engine=engine)
    rows = np.random.default_rng(1).integers(-1, 2, (50, 5))
    found = tree.posteriors_of(rows)
    for k, known in enumerate(rows):
        for mine, theirs in zip(found, tree.posteriors(known), strict=True):
            np.testing.assert_allclose(mine[k], theirs, atol=1e-15)
    empty = tree.posteriors_of(np.zeros((0, 5), dtype=int))
    assert [part.shape for part in empty] == [(0, 2), (0, 5, 2, 2), (0,)]


@each_engine
def test_a_tree_without_features_knows_the_prior(engine):
    network = naive_bayes(2, [[0.9, 0.1], [0.2, 0.8]], prior=(0.3, 0.7))
    tree = JoinTree(network, 0, [], engine=engine)
    assert tree.posteriors([]).belief.tolist() == pytest.approx([0.3, 0.7])
    assert tree.n_cells == 0


def test_auto_compiles_when_the_passes_add_up(monkeypatch):
    monkeypatch.setitem(engines.COMPILED_FROM, "join_tree", 6000)
    monkeypatch.setattr(engines, "are_ready", lambda loop: True)
    tree = JoinTree(naive_bayes(2, [[0.9, 0.1], [0.2, 0.8]]), 0, [1, 2])
    used = []
    for _ in range(4):  # a pass counts as 2 cliques and 8 cells
        tree.posteriors([0, -1])
        used.append(type(tree._choose(0)).__name__)
    assert used == ["_NumpyPasses", "_NumpyPasses", "_CompiledPasses", "_CompiledPasses"]


def test_tables_beyond_the_budget_are_refused():
    network = naive_bayes(3, [[0.9, 0.1], [0.2, 0.8]])
    with (
        memory_limit(100),
        pytest.raises(TooLargeError, match="exact inference would need") as told,
    ):
        JoinTree(network, 0, [1, 2, 3])
    assert told.value.remedies[0].parameter == "memory_limit"


def test_wrong_questions_are_refused():
    network = naive_bayes(2, [[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(UnknownNameError, match="engine must be one of"):
        JoinTree(network, 0, [1], engine="fortran")
    with pytest.raises(InputError, match="must be different nodes"):
        JoinTree(network, 0, [1, 1])
    with pytest.raises(InputError, match="neither a feature nor known"):
        JoinTree(network, 0, [0, 1])
    with pytest.raises(InputError, match="neither a feature nor known"):
        JoinTree(network, 0, [1], {0: 1})
    tree = JoinTree(network, 0, [1, 2])
    with pytest.raises(InputError, match="for each of the 2 features; got .* shape \\(1,\\)"):
        tree.posteriors([0])
    with pytest.raises(InputError, match="for each of the 2 features"):
        tree.posteriors([0.5, 0.5])
    with pytest.raises(InputError, match="'X1' has the states 0 to 1, got 2"):
        tree.posteriors([0, 2])
    with pytest.raises(InputError, match="'X0' has the states 0 to 1, got -2"):
        tree.posteriors_of([[-2, 0]])


def test_kernels_propagate_without_allocation():
    from voilattice.compiled.join_tree import propagate

    tree = JoinTree(naive_bayes(3, [[0.9, 0.1], [0.2, 0.8]]), 0, [1, 2, 3])
    messages = tree.new_messages()
    belief, pairs = np.empty(2), np.empty((3, 2, 2))
    for known in ([0, -1, -1], [0, 1, -1], [-1, 1, -1]):
        found = propagate(tree.arrays, messages, np.array(known), belief, pairs)
        wanted = tree.posteriors(known)
        np.testing.assert_allclose(belief, wanted.belief, atol=1e-15)
        np.testing.assert_allclose(pairs, wanted.pairs, atol=1e-15)
        assert found == pytest.approx(wanted.log_probability)


def test_kernels_propagate_through_a_pointer():
    from numba import njit

    from voilattice.compiled.join_tree import propagate
    from voilattice.compiled.pointers import Pointer

    @njit
    def ask(inner, tree, messages, known, belief, pairs):
        return inner(tree, messages, known, belief, pairs)

    tree = JoinTree(naive_bayes(3, [[0.9, 0.1], [0.2, 0.8]]), 0, [1, 2, 3])
    messages, known = tree.new_messages(), np.array([0, -1, 1])
    belief, pairs = np.empty(2), np.empty((3, 2, 2))
    pointer = Pointer(propagate, tree.arrays, messages, known, belief, pairs)
    found = ask(pointer, tree.arrays, messages, known, belief, pairs)
    wanted = tree.posteriors(known)
    np.testing.assert_allclose(belief, wanted.belief, atol=1e-15)
    np.testing.assert_allclose(pairs, wanted.pairs, atol=1e-15)
    assert found == pytest.approx(wanted.log_probability)
