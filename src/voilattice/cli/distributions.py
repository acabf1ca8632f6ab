"""The probability tables of a network, for people: a line for each combination of parents' states.

A line such as ``lamp if cause = disk, age = old: on 80 %, off 20 %`` can be checked by reading. In
the file, the same numbers are a row whose place in a list says what the parents are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voilattice.cli.console import findings
from voilattice.cli.terminal import print_lines
from voilattice.model.problem import Problem
from voilattice.wording import count_noun

__all__ = ["print_distributions"]

MAX_ROWS = 24  # of one node
MAX_NODES = 60


def print_distributions(problem: Problem) -> None:
    """Print the distribution of each node, given its parents."""
    n = len(problem.network)
    print_lines(line for node in range(min(n, MAX_NODES)) for line in _lines(problem, node))
    if n > MAX_NODES:
        left_out = count_noun(n - MAX_NODES, "more node")
        print_lines([f"Left out: the tables of {left_out}. --json has them all."], before="")


def _lines(problem: Problem, node: int) -> Iterator[str]:
    """Yield a line for each row of the table of a node, as many as can be read."""
    network = problem.network
    name, table = network.names[node], network.tables[node]
    parents = network.parents[node]
    names = [network.names[k] for k in parents]
    for row, codes in enumerate(np.ndindex(table.shape[:-1])):
        if row == MAX_ROWS:
            n_more = table[..., 0].size - MAX_ROWS
            yield (
                f"Left out: {count_noun(n_more, 'more row')} of {problem.label(name)}. "
                f"--json has them all."
            )
            return
        states = (network.states[k][v] for k, v in zip(parents, codes, strict=True))
        given = findings(problem, zip(names, states, strict=True), ", ")
        said = ", ".join(
            f"{problem.state_label(name, state)} {100 * p:.4g} %"
            for state, p in zip(network.states[node], table[codes].tolist(), strict=True)
        )
        yield f"{problem.label(name)}{f' if {given}' if given else ''}: {said}"
