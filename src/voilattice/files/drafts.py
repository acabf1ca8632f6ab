"""A problem file for people to go on with: every table explained, and what else is possible.

`draft_problem` writes a problem as one file. The network is written node by node. What the problem
does not have yet stands there as an example, with the problem's own names, behind the sign of a
comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from voilattice.files.toml_text import (
    format_nodes,
    toml_key,
    toml_list,
    toml_number,
    toml_table,
    toml_text,
)
from voilattice.model.problem import Problem

__all__ = ["draft_problem"]

HEAD = """\
# A problem for voilattice. What follows a # is a comment.
#   voilattice show FILE                      prints what this file holds
#   voilattice advise FILE --policy optimal   says what to find out first
"""

NODES = """\
# The network, a node for each variable. The table of a node has a row for each
# combination of its parents' states; the last parent varies fastest. A row holds
# the probability of each state of the node, and sums to 1.
"""

COSTS = """\
# What it costs to find out each feature, on its own.
"""

MATRIX = """\
# What a decision costs: a row for each decision, and in it the cost for each truth.
# A decision can have any name: refer = { ... } would be one too.
"""

SCALED = """\
# Wrong decisions cost so much that deciding at once, with nothing known, costs
# `expected` on average. kind: "symmetric" (all errors cost the same) or
# "asymmetric" (missing a rare class costs more). A matrix can stand here instead.
"""

MORE = """\
# What else this file can say. The examples have the names of this problem.
# Remove the # in front of each line of an example to use it.
"""


def draft_problem(problem: Problem, stakes: tuple[str, float] | None = None) -> str:
    """Return a problem with prices, and without groups and the like, as a commented file.

    Parameters
    ----------
    stakes
        Write the misclassification costs as this kind and this a-priori expected cost, instead of
        the matrix.
    """
    currency = f"currency = {toml_text(problem.currency or 'CAD')}"
    top = [
        f"title = {toml_text(problem.title)}",
        f"{currency if problem.currency else f'#{currency}'}  # shown with amounts",
    ]
    network = [
        "[network]",
        f"target = {toml_text(problem.target)}  # what has to be decided",
        f"features = {toml_list(problem.features)}  # what can be found out",
    ]
    costs = [
        "[costs]",
        *(f"{toml_key(f)} = {toml_number(p)}" for f, p in problem.pricing.prices.items()),
    ]
    decisions = ["[misclassification]"]
    if stakes is None:
        rows = problem.misclassification.tolist()
        for decision, row in zip(problem.decisions, rows, strict=True):
            amounts = dict(zip(problem.classes, map(toml_number, row), strict=True))
            decisions.append(f"{toml_key(decision)} = {toml_table(amounts)}")
    else:
        kind, expected = stakes
        decisions += [f"kind = {toml_text(kind)}", f"expected = {toml_number(expected)}"]
    parts = [
        HEAD,
        _lines(top),
        _lines(network),
        NODES + format_nodes(problem.network),
        COSTS + _lines(costs),
        (MATRIX if stakes is None else SCALED) + _lines(decisions),
        MORE,
        *_examples(problem, problem.pricing.prices),
    ]
    return "\n".join(parts)


def _examples(problem: Problem, prices: Mapping[str, float]) -> Iterable[str]:
    """Yield what else a problem file can say, with names of this problem."""
    first, last = problem.features[0], problem.features[-1]
    state = problem.states(last)[0]
    yield _example(
        "What people read in place of names.",
        "[labels]",
        f"{toml_key(first)} = {toml_text(f'{first}, in words')}",
        f"[state_labels.{toml_key(last)}]",
        f"{toml_key(state)} = {toml_text(f'{state}, in words')}",
    )
    yield _example(
        "What is known from the start, for free.",
        "[evidence]",
        f"{toml_key(last)} = {toml_text(state)}",
    )
    yield _example(
        "An amount that the first of these features also pays, once.",
        "[[groups]]",
        'name = "visit"',
        "overhead = 2",
        f"features = {toml_list(problem.features[:2])}",
    )
    yield _example(
        "The first of these features pays its price, each later one so much less.\n"
        "# A feature may be in a group or in a discount, not in both.",
        "[[discounts]]",
        'name = "laboratory"',
        f"off = {toml_table({f: toml_number(prices[f] / 4) for f in problem.features[-2:]})}",
    )
    if first != last:
        yield from _examples_of_two(problem, prices, first, last)
    yield _example(
        "Limits: what may be spent, on how many features, in how many rounds.",
        "[limits]",
        "spend = 100",
        "features = 3",
        "rounds = 2",
    )
    yield _example("What each round costs, whatever is found out in it.", "[rounds]", "cost = 1")


def _examples_of_two(
    problem: Problem, prices: Mapping[str, float], first: str, last: str
) -> Iterable[str]:
    """Yield examples in which what is known of one feature matters to another one."""
    states = [toml_text(state) for state in problem.states(last)]
    known = toml_table({last: states[0]})
    yield _example(
        "Another price of a feature, once something is known.",
        "[[conditional_costs]]",
        f"feature = {toml_text(first)}",
        f"when = {known}",
        f"cost = {toml_number(prices[first] / 2)}",
    )
    yield _example(
        "When a feature can be had: after others are known, only if, or not if.",
        "[[constraints]]",
        f"feature = {toml_text(first)}",
        f"after = {toml_list([last])}",
        f"only_if = {known}",
        f"not_if = {toml_table({last: states[-1]})}",
    )


def _example(what: str, *lines: str) -> str:
    return _lines([f"# {what}", *(f"#{line}" for line in lines)])


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
