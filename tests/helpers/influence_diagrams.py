"""A problem as an influence diagram of pyAgrum: a slot for each test, in an order left open.

Slot t has a decision (which test, or none), and a result that shows the test's value. Nothing is
forgotten from slot to slot, and the last decision is one of the problem's. Group overheads and
conditional prices are not encoded. Its size is exponential in the number of slots: a referee, no
rival.
"""

from __future__ import annotations

import itertools

import numpy as np
import pyagrum


def influence_diagram(problem):  # noqa: PLR0912 (one part of the diagram after another)
    network, tests = problem.network, list(problem.features)
    diagram = pyagrum.InfluenceDiagram()
    labels = {name: [str(k) for k in range(len(network.states[v]))] for v, name in
              enumerate(network.names)}  # fmt: skip
    for name in network.names:
        diagram.addChanceNode(pyagrum.LabelizedVariable(name, "", labels[name]))
    for child, parents in enumerate(network.parents):
        for parent in parents:
            diagram.addArc(network.names[parent], network.names[child])
    for child, parents in enumerate(network.parents):
        table = diagram.cpt(network.names[child])
        order = [network.names[p] for p in parents] + [network.names[child]]
        for cell in np.ndindex(network.tables[child].shape):
            place = dict(zip(order, map(int, cell), strict=True))
            table[place] = float(network.tables[child][cell])
    width = max(len(problem.states(test)) for test in tests)
    options = [*range(len(tests)), "none"]
    for t in range(len(tests)):
        choice, result, price = f"choice{t}", f"result{t}", f"price{t}"
        diagram.addDecisionNode(pyagrum.LabelizedVariable(choice, "", [str(o) for o in options]))
        diagram.addChanceNode(
            pyagrum.LabelizedVariable(result, "", [*map(str, range(width)), "nothing"])
        )
        diagram.addUtilityNode(pyagrum.LabelizedVariable(price, "", 1))
        if t:
            diagram.addArc(f"result{t - 1}", choice)
        diagram.addArc(choice, result)
        diagram.addArc(choice, price)
        for test in tests:
            diagram.addArc(test, result)
        cpt, utility = diagram.cpt(result), diagram.utility(price)
        for place, option in enumerate(options):
            # A test done twice is paid twice: never better, so never chosen.
            utility[{choice: place}] = (
                0.0 if option == "none" else -problem.costs.prices[tests[option]]
            )
            for values in itertools.product(*(range(len(labels[test])) for test in tests)):
                shown = width if option == "none" else values[option]
                for r in range(width + 1):
                    where = dict(zip(tests, values, strict=True))
                    cpt[{choice: place, result: r, **where}] = float(r == shown)
    diagram.addDecisionNode(pyagrum.LabelizedVariable("decision", "", list(problem.decisions)))
    diagram.addUtilityNode(pyagrum.LabelizedVariable("mistake", "", 1))
    diagram.addArc(f"result{len(tests) - 1}", "decision")
    diagram.addArc("decision", "mistake")
    diagram.addArc(problem.target, "mistake")
    utility = diagram.utility("mistake")
    for i, row in enumerate(problem.misclassification.tolist()):
        for j, cost in enumerate(row):
            utility[{"decision": i, problem.target: j}] = -cost
    return diagram


def optimal_cost(problem):
    """The least expected total cost, by pyAgrum's Shafer-Shenoy inference."""
    diagram = influence_diagram(problem)
    inference = pyagrum.ShaferShenoyLIMIDInference(diagram)
    slots = [f"choice{t}" for t in range(len(problem.features))]
    inference.addNoForgettingAssumption([*slots, "decision"])
    inference.makeInference()
    return -inference.MEU()["mean"]
