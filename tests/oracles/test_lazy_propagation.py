"""P(Y, S, e) against pyAgrum's LazyPropagation on public networks."""

import numpy as np
import pyagrum
import pytest
from helpers.strategies import DATA, draw_evidence, needs_data

from voilattice import Network, read_network
from voilattice.model.elimination import joint_table


def relabelled(network):
    """The same network with states s0, s1, ...: pyAgrum cannot write some public labels."""
    states = tuple(tuple(f"s{k}" for k in range(len(labels))) for labels in network.states)
    return Network(network.names, states, network.parents, network.tables)


def posterior_by_lazy_propagation(bn, names, evidence):
    """P(names | e), one axis for each name."""
    engine = pyagrum.LazyPropagation(bn)
    engine.setEvidence(evidence)
    engine.addJointTarget(set(names))
    engine.makeInference()
    posterior = engine.jointPosterior(set(names))
    axes = [list(reversed(posterior.names)).index(name) for name in names]
    return posterior.toarray().transpose(axes)


def joint_by_lazy_propagation(bn, names, evidence):
    """P(names, e) = P(e_1) P(e_2 | e_1) ... P(names | e): posteriors only.

    (`evidenceProbability` leaves out evidence that is irrelevant to the targets.)
    """
    probability, known = 1.0, {}
    for name, state in evidence.items():
        probability *= posterior_by_lazy_propagation(bn, [name], known)[state]
        known[name] = state
    return probability * posterior_by_lazy_propagation(bn, names, evidence)


@needs_data
@pytest.mark.parametrize("name", ["asia", "child", "alarm", "hepar2"])
def test_tables_agree_with_lazy_propagation(name):
    network = relabelled(read_network(DATA / "networks" / f"{name}.bif"))
    bn = network.to_pyagrum()
    rng = np.random.default_rng(20110201)
    for _ in range(25):
        evidence = draw_evidence(
            network, list(rng.permutation(network.names)[: len(network) // 3]), rng
        )
        free = [node for node in network.names if node not in evidence]
        keep = [str(node) for node in rng.choice(free, min(4, len(free)), replace=False)]
        states = {n: int(s.removeprefix("s")) for n, s in evidence.items()}
        known = {network.index(n): state for n, state in states.items()}
        ours = joint_table(network, [network.index(n) for n in keep], known)
        theirs = joint_by_lazy_propagation(bn, keep, states)
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
        # Where the evidence is unlikely, absolute agreement says little: compare P(S | e) too.
        np.testing.assert_allclose(ours / ours.sum(), theirs / theirs.sum(), atol=1e-9)
