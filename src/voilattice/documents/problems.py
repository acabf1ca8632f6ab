"""What is known of a problem: the commands `problems` and `show`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from voilattice.documents.declaration import Document, Json, Source, key
from voilattice.valuation.valuation import emc

if TYPE_CHECKING:
    from voilattice.model.network import Network
    from voilattice.model.problem import Problem as ProblemResult

__all__ = ["PathLimits", "Problem", "ProblemEntry", "ShownProblem", "node_tables"]


class ProblemEntry(Document):
    """A problem of the list."""

    name: str = key("What commands and requests call it.")
    title: str = key("What people call it.")
    target: str = key("What has to be decided on.")
    features: list[str] = key("What can be acquired.", lambda problem: sorted(problem.features))


class SharedOverhead(Document):
    """Features whose overhead is paid once."""

    name: str = key("The name of the group.")
    overhead: float = key("What is paid once for all of them.")
    features: list[str] = key("The features that share it.")


class Discount(Document):
    """Features that cost less once one of them is acquired."""

    name: str = key("The name of the discount.")
    off: dict[str, float] = key("What each feature costs less once one of the others is acquired.")


class ConditionalCost(Document):
    """Another price of a feature, once some evidence is known."""

    feature: str = key("The feature.")
    when: dict[str, str] = key("The evidence under which it has this price.")
    cost: float = key("The price then.")


class RoundCost(Document):
    """What each acquisition costs, whatever it brings."""

    cost: float = key("What each acquisition costs in addition to its features.")


class Constraint(Document):
    """When a feature can be acquired."""

    feature: str = key("The feature.")
    after: list[str] = key("Features that must be acquired before it.")
    only_if: dict[str, str] = key("The evidence that allows it.")
    not_if: dict[str, str] = key("The evidence that forbids it.")


class PathLimits(Document):
    """What may be acquired at most; null: no limit."""

    spend: float | None = key("How much money; null: no limit.")
    features: int | None = key("How many features; null: no limit.")
    rounds: int | None = key("How many rounds; null: no limit.")


def _prices(kind: str) -> Source:
    """Return the source of a kind of prices; costs of somebody's own have none."""
    return lambda problem: problem.pricing.documents().get(kind)


def _stakes(problem: ProblemResult) -> dict[str, dict[str, float]]:
    rows = zip(problem.decisions, problem.misclassification.tolist(), strict=True)
    return {decision: dict(zip(problem.classes, row, strict=True)) for decision, row in rows}


class Problem(Document):
    """Everything in a problem except its network."""

    title: str = key("What people call it.")
    target: str = key("What has to be decided on.")
    classes: list[str] = key("The states of the target.")
    decisions: list[str] = key("What can be decided.")
    prior: dict[str, float] = key(
        "The probability of each class with nothing known.",
        lambda problem: zip(problem.classes, problem.prior.tolist(), strict=True),
    )
    features: list[str] = key("What can be acquired.", lambda problem: sorted(problem.features))
    states: dict[str, list[str]] = key(
        "The states of each feature, in order.",
        lambda problem: {name: problem.states(name) for name in problem.features},
    )
    bins: dict[str, list[float]] = key("For features with bins, the numbers between the states.")
    hidden: list[str] = key(
        "Nodes that are neither target nor feature.", lambda problem: sorted(problem.hidden)
    )
    labels: dict[str, str] = key("What people read in place of a node's name.")
    state_labels: dict[str, dict[str, str]] = key("What people read in place of a state's name.")
    currency: str = key("The unit of money; empty: none.")
    misclassification: dict[str, dict[str, float]] = key(
        "The cost of each decision for each class.", _stakes
    )
    evidence: dict[str, str] = key("What is known from the start.")
    emc: float = key("The expected misclassification cost (EMC) at this evidence.", emc)
    costs: dict[str, float] | None = key(
        "The price of each feature. Costs that are an object of your own have none, nor the next "
        "four keys.",
        _prices("costs"),
        optional=True,
    )
    groups: list[SharedOverhead] | None = key(
        "Features that share an overhead.", _prices("groups"), optional=True
    )
    discounts: list[Discount] | None = key(
        "Features that cost less together.",
        _prices("discounts"),
        optional=True,
    )
    conditional_costs: list[ConditionalCost] | None = key(
        "Prices that depend on evidence.",
        _prices("conditional_costs"),
        optional=True,
    )
    rounds: RoundCost | None = key(
        "What each acquisition costs in addition.", _prices("rounds"), optional=True
    )
    constraints: list[Constraint] = key("When features can be acquired.")
    limits: PathLimits = key("What may be acquired at most.")
    rules: list[str] = key(
        "Constraints, limits and prices that depend on others, in sentences.",
        lambda problem: [*problem.describe_rules(), *problem.pricing.sentences(problem)],
    )


class TableRow(Document):
    """The probabilities of a node's states, at some states of its parents."""

    given: dict[str, str] = key("The states of the parents.")
    probabilities: dict[str, float] = key("The probability of each state.")


class NodeTable(Document):
    """The probability table of a node."""

    node: str = key("The node.")
    parents: list[str] = key("The nodes that it depends on.")
    rows: list[TableRow] = key("A row for each combination of the parents' states.")


def node_tables(network: Network) -> Iterator[Json]:
    """Yield the probability tables of a network."""
    for node, name in enumerate(network.names):
        parents = {network.names[k]: network.states[k] for k in network.parents[node]}
        table = network.tables[node]
        rows: list[dict[str, Any]] = [
            {
                "given": {p: of[v] for (p, of), v in zip(parents.items(), at, strict=True)},
                "probabilities": dict(zip(network.states[node], table[at].tolist(), strict=True)),
            }
            for at in np.ndindex(table.shape[:-1])
        ]
        yield NodeTable.json_of(None, node=name, parents=parents, rows=rows)


class ShownProblem(Problem):
    """Everything in a problem."""

    tables: list[NodeTable] | None = key(
        "With --tables, the probability tables of the network.", optional=True
    )
