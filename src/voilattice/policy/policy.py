r"""Policies: what to acquire at each step, and what that costs in total (paper, Section 2).

A policy π is a tree. An inner node acquires one or several features and branches on their joint
outcome; a leaf decides. A path p_s has the feature cost, the expected misclassification cost and
the total cost

    FC(p_s) = sum_j C(p_s[j] | p_s[1:j]),     EMC(s),     TC(p_s) = FC(p_s) + EMC(s)

and the policy has the expected total cost

    ETC(π) = sum over paths of  P(s) TC(p_s).                                       (Eq. 2)

Equal subtrees are stored once, as one *node*, so a tree with millions of paths stays small. With
c(n) the price of what node n acquires, the cost to go is

    ETC(n) = c(n) + sum over branches of P(branch) ETC(child),     ETC(leaf) = EMC,

computed in one pass over the nodes, children first. Counts refer to the unfolded tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from voilattice.errors import InputError, within
from voilattice.model.costs import check_amount
from voilattice.model.problem import Problem
from voilattice.ties import TOLERANCE
from voilattice.wording import format_amount, quote

__all__ = ["Acquisition", "Branch", "Certificate", "Leaf", "Node", "Path", "Policy"]

PROBABILITY_TOLERANCE = 1e-6
STATUSES = ("ok", "time", "memory")


@dataclass(frozen=True, slots=True)
class Branch:
    """One joint outcome of what a node acquires."""

    states: tuple[str, ...]  # of the features, in their order
    probability: float  # given that the node is reached
    child: int  # the number of the node it leads to


@dataclass(frozen=True, slots=True)
class Acquisition:
    """A node that acquires features together and branches on their values."""

    features: tuple[str, ...]
    price: float  # C(features | what is known there)
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A node that decides."""

    decision: str
    posterior: tuple[float, ...]
    emc: float


Node = Acquisition | Leaf


@dataclass(frozen=True, slots=True)
class Path:
    """One path of the unfolded tree: the acquired values in order, and their cost."""

    evidence: tuple[tuple[str, str], ...]
    probability: float
    feature_cost: float
    leaf: Leaf

    @property
    def total_cost(self) -> float:
        """TC = FC + EMC."""
        return self.feature_cost + self.leaf.emc


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a solver knows about a policy besides its cost."""

    lower_bound: float | None = None  # no policy costs less than this; None: not computed
    exact: bool = True  # the policy is what its name says; `optimal`: proved to cost least
    status: str = "ok"  # "time" or "memory": the limit that stopped the work early

    def __post_init__(self) -> None:
        if self.lower_bound is not None:
            with within("lower_bound"):
                check_amount(self.lower_bound)
        if self.status not in STATUSES:
            known = ", ".join(map(repr, STATUSES))
            raise InputError(f"must be one of {known}, got {quote(self.status)}", "status")


@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """A frozen policy for a problem.

    `nodes` holds each node after all the nodes that its branches lead to; the last one is the root.
    """

    problem: Problem
    name: str
    nodes: tuple[Node, ...]
    certificate: Certificate = Certificate()

    def __post_init__(self) -> None:
        if not self.nodes:
            raise InputError("a policy needs at least one node, found none")
        below: list[frozenset[str]] = []  # the features acquired at a node or after it
        for number, node in enumerate(self.nodes):
            with within(f"node {number}"):
                if isinstance(node, Leaf):
                    self._check_leaf(node)
                    below.append(frozenset())
                else:
                    self._check_acquisition(node, number)
                    later = frozenset().union(*(below[b.child] for b in node.branches))
                    if twice := later & set(node.features):
                        raise InputError(f"{min(twice)!r} is acquired again at a later node")
                    below.append(later | set(node.features))

    def _check_leaf(self, leaf: Leaf) -> None:
        classes = self.problem.classes
        if leaf.decision not in classes:
            raise InputError(f"the decision {quote(leaf.decision)} is not one of {classes}")
        if len(leaf.posterior) != len(classes) or not _is_distribution(leaf.posterior):
            raise InputError(f"the posterior {quote(leaf.posterior)} is not a distribution")
        with within("emc"):
            check_amount(leaf.emc)

    def _check_acquisition(self, node: Acquisition, number: int) -> None:
        self.problem.check_acquirable(node.features, self.problem.evidence)
        with within("price"):
            check_amount(node.price)
        if not node.features or not node.branches:
            raise InputError("an acquisition needs features and branches")
        if len({branch.states for branch in node.branches}) < len(node.branches):
            raise InputError("an outcome appears twice")
        for branch in node.branches:
            if not 0 <= branch.child < number:
                raise InputError(f"it leads to node {branch.child}, which must come before it")
            for feature, state in zip(node.features, branch.states, strict=True):
                self.problem.merge_evidence({feature: state})
        if not _is_distribution([branch.probability for branch in node.branches]):
            raise InputError("the probabilities of its branches must be >= 0 and sum to 1")

    @property
    def lower_bound(self) -> float | None:
        """A bound that no policy for the problem can beat; None: not known."""
        return self.certificate.lower_bound

    @property
    def exact(self) -> bool:
        """Whether the policy is what its name says; `optimal`: proved to cost least."""
        return self.certificate.exact

    @property
    def status(self) -> str:
        """``"ok"``, or the limit that stopped the work early: ``"time"`` or ``"memory"``."""
        return self.certificate.status

    @property
    def verdict(self) -> str:
        """The certificate in words; empty: nothing is claimed."""
        cost, bound = self.expected_total_cost, self.lower_bound
        if bound is None:
            return ""
        if self.exact:
            return f"Proved optimal: no policy costs less than {format_amount(cost)} on average."
        gap = f"gap {format_amount(cost - bound)}, {(cost - bound) / max(cost, TOLERANCE):.1%}"
        return (
            f"Not proved optimal: no policy costs less than {format_amount(bound)} on average "
            f"({gap})."
        )

    @property
    def root(self) -> Node:
        """The first node."""
        return self.nodes[-1]

    @property
    def expected_feature_cost(self) -> float:
        """What is spent on features, on average."""
        return self._expected(lambda node: node.price, lambda leaf: 0.0)

    @property
    def expected_misclassification_cost(self) -> float:
        """What wrong decisions cost, on average."""
        return self._expected(lambda node: 0.0, lambda leaf: leaf.emc)

    @property
    def expected_total_cost(self) -> float:
        """ETC(π), Equation 2."""
        return self._expected(lambda node: node.price, lambda leaf: leaf.emc)

    @property
    def expected_features(self) -> float:
        """The number of features that are acquired, on average."""
        return self._expected(lambda node: float(len(node.features)), lambda leaf: 0.0)

    @property
    def n_acquisitions(self) -> int:
        """The number of acquisition nodes of the unfolded tree."""
        return self._counted(lambda children: 1 + sum(children), leaf=0)

    @property
    def n_paths(self) -> int:
        """The number of leaves of the unfolded tree."""
        return self._counted(sum, leaf=1)

    @property
    def depth(self) -> int:
        """The largest number of acquisitions on a path."""
        return self._counted(lambda children: 1 + max(children), leaf=0)

    @property
    def costs_to_go(self) -> tuple[float, ...]:
        """What is still to be paid from each node on, on average."""
        return tuple(self._accumulated(lambda node: node.price, lambda leaf: leaf.emc))

    @property
    def reach_probabilities(self) -> tuple[float, ...]:
        """The probability of reaching each node, over all paths."""
        reached = [0.0] * len(self.nodes)
        reached[-1] = 1.0
        for number in reversed(range(len(self.nodes))):
            node = self.nodes[number]
            if isinstance(node, Acquisition):
                for branch in node.branches:
                    reached[branch.child] += reached[number] * branch.probability
        return tuple(reached)

    def follow(self, case: Mapping[str, str]) -> Node:
        """Return the first acquisition for which the case has no result, or the leaf of the case.

        >>> import voilattice
        >>> policy = voilattice.build_policy(voilattice.load_problem("asia"), "greedy-la")
        >>> policy.follow({"tub": "no"}).features
        ('xray',)
        >>> policy.follow({"tub": "no", "xray": "no"}).decision
        'no'
        """
        for feature, state in self.problem.evidence.items():
            if case.get(feature, state) != state:
                raise InputError(f"{feature!r} is {state!r} by the problem's own evidence")
        self.problem.merge_evidence(self.problem.further(case))
        node = self.root
        while isinstance(node, Acquisition) and all(f in case for f in node.features):
            found = tuple(case[feature] for feature in node.features)
            ways = [branch.child for branch in node.branches if branch.states == found]
            if not ways:
                given = ", ".join(f"{f}={v}" for f, v in zip(node.features, found, strict=True))
                raise InputError(f"{given} is impossible there: its probability is 0")
            node = self.nodes[ways[0]]
        return node

    def paths(self) -> Iterator[Path]:
        """Return the paths of the unfolded tree, one by one."""
        stack: list[tuple[int, tuple[tuple[str, str], ...], float, float]] = [
            (len(self.nodes) - 1, (), 1.0, 0.0)
        ]
        while stack:
            number, found, probability, spent = stack.pop()
            node = self.nodes[number]
            if isinstance(node, Leaf):
                yield Path(found, probability, spent, node)
                continue
            for branch in reversed(node.branches):
                more = tuple(zip(node.features, branch.states, strict=True))
                p = probability * branch.probability
                stack.append((branch.child, found + more, p, spent + node.price))

    def _repr_html_(self) -> str:
        from voilattice.drawing.policy import policy_body

        return policy_body(self)

    def __repr__(self) -> str:
        return (
            f"<Policy {self.name!r}: {self.n_acquisitions:,} acquisitions, {self.n_paths:,} paths, "
            f"expected total cost {self.expected_total_cost:.4f}>"
        )

    def _expected(
        self, at_node: Callable[[Acquisition], float], at_leaf: Callable[[Leaf], float]
    ) -> float:
        """Return the expectation of a sum along the paths."""
        return self._accumulated(at_node, at_leaf)[-1]

    def _accumulated(
        self, at_node: Callable[[Acquisition], float], at_leaf: Callable[[Leaf], float]
    ) -> list[float]:
        """Return the expectation of a sum from each node on, in one pass, children first."""
        total: list[float] = []
        for node in self.nodes:
            if isinstance(node, Leaf):
                total.append(at_leaf(node))
            else:
                later = sum(branch.probability * total[branch.child] for branch in node.branches)
                total.append(at_node(node) + later)
        return total

    def _counted(self, at_node: Callable[[list[int]], int], *, leaf: int) -> int:
        count: list[int] = []
        for node in self.nodes:
            if isinstance(node, Leaf):
                count.append(leaf)
            else:
                count.append(at_node([count[branch.child] for branch in node.branches]))
        return count[-1]


def _is_distribution(probabilities: Sequence[float]) -> bool:
    in_range = all(0 <= p <= 1 + PROBABILITY_TOLERANCE for p in probabilities)
    return in_range and abs(sum(probabilities) - 1) <= PROBABILITY_TOLERANCE
