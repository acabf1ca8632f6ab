"""The optimal policy by plain dynamic programming over all partial assignments.

One table for each set of known features, nothing merged, every feature tried: the referee of the
solvers, which share no code with it but the joint distribution.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from voilattice.model.elimination import scaled_joint_table


def optimal_cost(problem, *, largest=1, exactly=False):
    """The least expected total cost of all policies that acquire at most so many at once.

    `exactly`: in fractions, so that no probability is too small.
    """
    free = [f for f in problem.features if f not in problem.evidence]
    network = problem.network
    nodes = [network.index(name) for name in (problem.target, *free)]
    if exactly:
        joint = exact_joint(problem, nodes)
    else:
        joint = scaled_joint_table(network, nodes, problem.node_states(problem.evidence)).table
    joint = joint / joint.sum()
    costs, states = problem.costs, [problem.states(f) for f in free]
    n = len(free)
    value = {}
    for size in range(n, -1, -1):
        for known in itertools.combinations(range(n), size):
            gone = tuple(1 + k for k in range(n) if k not in known)
            table = joint.sum(axis=gone)
            mass = np.asarray(table.sum(axis=0))
            matrix = problem.misclassification
            if exactly:
                matrix = np.vectorize(Fraction, otypes=[object])(matrix)
            best = np.tensordot(matrix, table, axes=1).min(axis=0)
            unknown = [k for k in range(n) if k not in known]
            for many in range(1, min(largest, len(unknown)) + 1):
                for chosen in itertools.combinations(unknown, many):
                    after = tuple(sorted((*known, *chosen)))
                    future = value[after].sum(axis=tuple(after.index(i) for i in chosen))
                    names = frozenset(free[i] for i in chosen)
                    price = np.zeros(mass.shape, dtype=object if exactly else float)
                    for cell in np.ndindex(mass.shape):
                        e = {free[k]: states[k][v] for k, v in zip(known, cell, strict=True)}
                        amount = costs.cost(names, {**problem.evidence, **e})
                        price[cell] = Fraction(amount) if exactly else amount
                    best = np.minimum(best, price * mass + future)
            value[known] = best
    return float(value[()])


def exact_joint(problem, nodes):
    """P(nodes, e) in fractions, cell by cell; `nodes` in this order."""
    network, known = problem.network, problem.node_states(problem.evidence)
    joint = np.full([network.n_states[node] for node in nodes], Fraction(0), dtype=object)
    for case in np.ndindex(*network.n_states):
        if all(case[node] == state for node, state in known.items()):
            p = Fraction(1)
            for node, table in enumerate(network.tables):
                p *= Fraction(table[(*(case[q] for q in network.parents[node]), case[node])])
            joint[tuple(case[node] for node in nodes)] += p
    return joint
