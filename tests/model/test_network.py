import pickle

import numpy as np
import pyagrum
import pytest
from helpers.strategies import full_joint, networks
from hypothesis import given
from pgmpy.factors.discrete import TabularCPD
from pgmpy.models import DiscreteBayesianNetwork

from voilattice import Network
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.network import ROW_SUM_TOLERANCE

BINARY = ["T", "F"]


def chain(**changes):
    given = {
        "states": {"A": BINARY, "B": BINARY},
        "parents": {"B": ["A"]},
        "tables": {"A": [0.2, 0.8], "B": [[0.9, 0.1], [0.3, 0.7]]},
    }
    return Network.from_tables(**(given | changes))


def test_arrays_are_read_only_and_copied():
    mine = np.array([0.2, 0.8])
    network = chain(tables={"A": mine, "B": [[0.9, 0.1], [0.3, 0.7]]})
    mine[0] = 0.5
    assert network.tables[0].tolist() == [0.2, 0.8]
    with pytest.raises(ValueError, match="read-only"):
        network.tables[0][0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"states": {}, "parents": {}, "tables": {}},
            "the nodes: at least one is needed, found none",
        ),
        (
            {"states": {"A": BINARY, "B": ["T", "T"]}},
            "the states of 'B': the name 'T' appears twice",
        ),
        ({"states": {"A": BINARY, "B": []}}, "the states of 'B': at least one is needed"),
        ({"states": {"A": BINARY, "B": ["T", ""]}}, "must be printable text, got ''"),
        ({"states": {"A": BINARY, "B": ["T", "a\nb"]}}, r"must be printable text, got 'a\\nb'"),
        ({"parents": {"B": ["A", "A"]}}, "node 'B' has the same parent twice"),
        ({"parents": {"B": ["C"]}}, "node 'B' has a parent 'C', which is not a node"),
        ({"parents": {"C": ["A"]}}, "parents are given for 'C', but states are not"),
        ({"tables": {"A": [0.2, 0.8]}}, "node 'B' has no table"),
        (
            {"tables": {"A": [0.2, 0.8], "B": [0.9, 0.1]}},
            r"'B' must have the shape \(2, 2\) \(parents 'A', then the node\), got \(2,\)",
        ),
        (
            {"tables": {"A": [0.2, 0.8], "B": [[0.9, 0.1], [0.3, 0.67]]}},
            r"P\(B \| A=F\) sums to 0.97, not 1",
        ),
        ({"tables": {"A": [-0.2, 1.2], "B": np.eye(2)}}, r"P\(A\) holds -0.2, which is not a prob"),
        ({"tables": {"A": [np.nan, 1], "B": np.eye(2)}}, r"P\(A\) holds nan"),
        ({"tables": {"A": [np.inf, 1], "B": np.eye(2)}}, r"P\(A\) holds inf"),
        (
            {"tables": {"A": ["x", 1], "B": np.eye(2)}},
            "the table of 'A' must be an array of numbers",
        ),
        ({"tables": {"A": [[1], [1, 2]], "B": np.eye(2)}}, "the table of 'A' must be an array of"),
    ],
)
def test_a_bad_network_is_refused_with_its_place(changes, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        chain(**changes)


def test_a_cycle_is_named_along_its_arcs():
    with pytest.raises(InputError, match=r"the network has a cycle: (A -> B -> A|B -> A -> B)"):
        chain(parents={"A": ["B"], "B": ["A"]}, tables={"A": np.eye(2), "B": np.eye(2)})


@pytest.mark.parametrize("off", [-ROW_SUM_TOLERANCE, ROW_SUM_TOLERANCE])
def test_a_row_within_the_tolerance_is_normalised(off):
    network = chain(tables={"A": [0.2 + off, 0.8], "B": np.eye(2)})
    assert network.tables[0].sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(InputError, match="sums to"):
        chain(tables={"A": [0.2 + 1.01 * off, 0.8], "B": np.eye(2)})


@pytest.mark.parametrize(
    ("names", "parents", "message"),
    [
        (("A", "B", "C"), ((), ()), "must have the same length"),
        (("A", "B"), ((), (-1,)), "'B' has a parent that is not a node"),
        (("A", "B"), ((), (2,)), "'B' has a parent that is not a node"),
    ],
)
def test_indices_are_checked_too(names, parents, message):
    with pytest.raises(InputError, match=message):
        Network(names, (("T",), ("T",)), parents, (np.ones(1), np.ones((1, 1))))


def test_a_copy_from_another_process_is_frozen():
    copy = pickle.loads(pickle.dumps(chain()))
    assert copy == chain()
    assert not copy.tables[0].flags.writeable


def test_names_and_states_translate_or_say_what_is_there():
    network = chain()
    assert network.index("B") == 1
    assert network.state_index(1, "F") == 1
    with pytest.raises(UnknownNameError, match=r"no node 'Bb' \(nearest: 'B'\)"):
        network.index("Bb")
    with pytest.raises(UnknownNameError, match="'B' has no state 'x'; its states are 'T', 'F'"):
        network.state_index(1, "x")


@given(networks(max_nodes=5))
def test_pyagrum_objects_round_trip(network):
    copy = Network.from_pyagrum(network.to_pyagrum())
    assert copy.names == network.names
    assert copy.states == network.states
    np.testing.assert_allclose(full_joint(copy), full_joint(network), atol=1e-12)


def test_axes_of_a_pyagrum_network_are_understood():
    bn = pyagrum.fastBN("A[2]->C[4]<-B[3]")
    network = Network.from_pyagrum(bn)
    c = network.index("C")
    for a, b, k in np.ndindex(2, 3, 4):
        place = {"A": a, "B": b}
        parents = tuple(place[network.names[p]] for p in network.parents[c])
        assert network.tables[c][(*parents, k)] == bn.cpt("C")[{"A": a, "B": b, "C": k}]


def test_a_pgmpy_network_is_taken():
    model = DiscreteBayesianNetwork([("A", "C"), ("B", "C")])
    model.add_cpds(
        TabularCPD("A", 2, [[0.2], [0.8]], state_names={"A": ["lo", "hi"]}),
        TabularCPD("B", 3, [[0.2], [0.3], [0.5]]),
        TabularCPD(
            "C",
            2,
            [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]],
            evidence=["A", "B"],
            evidence_card=[2, 3],
            state_names={"A": ["lo", "hi"], "B": [0, 1, 2], "C": ["no", "yes"]},
        ),
    )
    network = Network.from_pgmpy(model)
    c = network.index("C")
    assert network.states[network.index("A")] == ("lo", "hi")
    assert network.states[network.index("B")] == ("0", "1", "2")
    assert [network.names[p] for p in network.parents[c]] == ["A", "B"]
    assert network.tables[c][1, 0].tolist() == [0.4, 0.6]


def test_a_pgmpy_network_whose_cpds_disagree_about_states_is_refused():
    model = DiscreteBayesianNetwork([("A", "C")])
    model.add_cpds(
        TabularCPD("A", 2, [[0.2], [0.8]], state_names={"A": ["lo", "hi"]}),
        TabularCPD(
            "C",
            2,
            [[0.1, 0.2], [0.9, 0.8]],
            ["A"],
            [2],
            state_names={"A": ["hi", "lo"], "C": ["no", "yes"]},
        ),
    )
    with pytest.raises(InputError, match="the CPD of 'C' lists the states of 'A' as"):
        Network.from_pgmpy(model)


def test_something_else_than_a_network_is_named():
    with pytest.raises(InputError, match="expected a pyAgrum network, got None"):
        Network.from_pyagrum(None)
    with pytest.raises(InputError, match="expected a pgmpy network, got 'asia'"):
        Network.from_pgmpy("asia")


def test_a_pgmpy_network_without_a_cpd_is_refused():
    with pytest.raises(InputError, match=r"node '.' of the pgmpy network has no CPD"):
        Network.from_pgmpy(DiscreteBayesianNetwork([("A", "C")]))


@given(networks(max_nodes=4))
def test_a_joint_table_is_its_complete_network(network):
    joint = full_joint(network)
    states = dict(zip(network.names, network.states, strict=True))
    complete = Network.from_joint(network.names, states, joint)
    assert complete.n_arcs == len(network) * (len(network) - 1) // 2
    np.testing.assert_allclose(full_joint(complete), joint, atol=1e-12)


@pytest.mark.parametrize(
    ("variables", "states", "probabilities", "message"),
    [
        (["A"], {"A": BINARY}, [0.5], r"needs 2 probabilities \(2\), got 1"),
        (["A"], {"A": BINARY}, [0.5, 0.6], "the joint table sums to 1.1, not 1"),
        (["A"], {}, [1.0], "no states are given for 'A'"),
        (["A"], {"A": BINARY, "AB": BINARY}, [0.5, 0.5], "'AB', which is not a variable"),
        (["A", "A"], {"A": BINARY}, [0.5, 0.5], "the variables: the name 'A' appears twice"),
        ([], {}, [], "the variables: at least one is needed"),
    ],
)
def test_a_bad_joint_table_is_refused(variables, states, probabilities, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        Network.from_joint(variables, states, probabilities)


def test_equal_networks_are_equal_and_hash_alike():
    assert chain() == chain()
    assert hash(chain()) == hash(chain())
    assert chain() != chain(tables={"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.3, 0.7]]})
    assert chain() != "chain"
