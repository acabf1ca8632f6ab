"""Drawings of a policy: text for a terminal, DOT for Graphviz.

A policy can have millions of paths. It is unfolded from the root, the most probable place first,
until `MAX_DRAWN` nodes are there; what is left folded is shown with the number of its paths.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from voilattice.policy import Acquisition, Leaf, Node, Policy

__all__ = ["MAX_DRAWN", "policy_dot", "policy_text"]

MAX_DRAWN = 200


@dataclass(slots=True)
class _Drawn:
    node: Node
    number: int
    outcome: str
    probability: float
    children: list[_Drawn] = field(default_factory=list)

    @property
    def is_folded(self) -> bool:
        return isinstance(self.node, Acquisition) and not self.children


def policy_text(policy: Policy, *, max_nodes: int = MAX_DRAWN) -> Iterator[str]:
    r"""Return the policy as the lines of a tree.

    >>> import voilattice
    >>> from voilattice.policies import build_policy
    >>> print("\n".join(policy_text(build_policy(voilattice.load_problem("figure3"), "batch"))))
    buy X3, X4 for 5.00
    ├─ X3 = T, X4 = T (13.7 %): buy X2 for 2.00
    │  ├─ X2 = T (10.3 %): say T, risk 18.94
    │  └─ X2 = F (3.4 %): say F, risk 18.23
    ├─ X3 = T, X4 = F (45.0 %): say F, risk 6.00
    ├─ X3 = F, X4 = T (6.3 %): say F, risk 10.71
    └─ X3 = F, X4 = F (35.0 %): say T, risk 6.29
    """

    def lines(drawn: _Drawn, prefix: str) -> Iterator[str]:
        for place, child in enumerate(drawn.children):
            last = place == len(drawn.children) - 1
            head = f"{prefix}{'└─' if last else '├─'} {child.outcome} ({_percent(child)})"
            yield f"{head}: {_said(policy, child)}"
            yield from lines(child, prefix + ("   " if last else "│  "))

    root = _unfolded(policy, max_nodes)
    yield _said(policy, root)
    yield from lines(root, "")


def policy_dot(policy: Policy, *, max_nodes: int = MAX_DRAWN) -> Iterator[str]:
    """Return the policy as the lines of a Graphviz file."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    yield f"digraph {quoted(policy.name)} {{"
    yield "  rankdir=LR; node [shape=box, fontname=Helvetica]; edge [fontname=Helvetica];"
    stack, n = [(_unfolded(policy, max_nodes), "n0")], 0
    while stack:
        drawn, name = stack.pop()
        shape = "" if isinstance(drawn.node, Acquisition) else ", shape=ellipse"
        yield f"  {name} [label={quoted(_said(policy, drawn))}{shape}];"
        for child in drawn.children:
            n += 1
            label = quoted(f"{child.outcome} ({_percent(child)})")
            yield f"  {name} -> n{n} [label={label}, penwidth={0.5 + 4 * child.probability:.2f}];"
            stack.append((child, f"n{n}"))
    yield "}"


def _unfolded(policy: Policy, max_nodes: int) -> _Drawn:
    root = _Drawn(policy.root, len(policy.nodes) - 1, "", 1.0)
    heap = [(-1.0, 0, root)]
    n = 1
    while heap:
        drawn = heapq.heappop(heap)[2]
        if isinstance(drawn.node, Leaf) or n + len(drawn.node.branches) > max_nodes:
            continue
        for branch in drawn.node.branches:
            found = zip(drawn.node.features, branch.states, strict=True)
            outcome = ", ".join(f"{feature} = {state}" for feature, state in found)
            probability = drawn.probability * branch.probability
            child = _Drawn(policy.nodes[branch.child], branch.child, outcome, probability)
            drawn.children.append(child)
            n += 1
            heapq.heappush(heap, (-probability, n, child))
    return root


def _said(policy: Policy, drawn: _Drawn) -> str:
    node = drawn.node
    if isinstance(node, Leaf):
        return f"say {node.decision}, risk {node.emc:,.2f}"
    text = f"buy {', '.join(node.features)} for {node.price:,.2f}"
    if drawn.is_folded:
        below = Policy(policy.problem, policy.name, policy.nodes[: drawn.number + 1])
        text += f" ... and on, {below.n_paths:,} paths"
    return text


def _percent(drawn: _Drawn) -> str:
    return f"{100 * drawn.probability:.1f} %"
