r"""Policies: what to acquire at each step, and what that costs in total (paper, Section 2).

A policy π is a tree. An inner node acquires one or several features and branches on their joint
outcome; a leaf decides. A path p_s has the feature cost, the expected misclassification cost and
the total cost

    FC(p_s) = sum_j C(p_s[j] | p_s[1:j]),     EMC(s),     TC(p_s) = FC(p_s) + EMC(s)

and the policy has the expected total cost

    ETC(π) = sum over paths of  P(s) TC(p_s).                                       (Eq. 2)

Equal subtrees are stored once, as one *node*, so a tree with millions of paths stays small
(`policy.nodes`). With c(n) the price of what node n acquires, the cost to go is

    ETC(n) = c(n) + sum over branches of P(branch) ETC(child),     ETC(leaf) = EMC.

Counts refer to the unfolded tree.

A tree may be too large to work out. Then some leaves are *open*: the work stopped there, and the
policy decides. The result is a policy like any other, with an exact cost of its own. Whoever
follows the policy can ask its solver how it goes on at an open leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError
from voilattice.model.problem import Evidence, Problem
from voilattice.policy.certificate import Certificate
from voilattice.policy.nodes import Acquisition, Branch, Leaf, Node, Nodes
from voilattice.ties import TOLERANCE
from voilattice.wording import format_amount

__all__ = [
    "Acquisition",
    "Branch",
    "Certificate",
    "Leaf",
    "Node",
    "Path",
    "Policy",
    "describe_excess",
]

SHOWN = 0.005  # two decimals do not show a smaller gap


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


@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """A frozen policy for a problem.

    `nodes` holds each node after all the nodes that its branches lead to; the last one is the root.
    They are checked once, and then held in arrays.
    A complete policy also says how cases go on beyond its nodes (`cases.completion`).
    """

    problem: Problem
    name: str
    nodes: Sequence[Node]
    certificate: Certificate = field(default_factory=Certificate)
    is_complete: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", Nodes.of(self.problem, self.nodes))

    def certify(self, certificate: Certificate, *, is_complete: bool | None = None) -> Policy:
        """Return the same policy with another certificate."""
        complete = self.is_complete if is_complete is None else is_complete
        return replace(self, certificate=certificate, is_complete=complete)

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
        cost, bound, note = self.expected_total_cost, self.lower_bound, self.certificate.note
        currency = self.problem.currency
        if bound is None:
            return note
        if self.exact:
            least = format_amount(cost, currency)
            return f"Proved optimal: no policy costs less than {least} on average."
        if 0 < cost - bound < SHOWN:
            gap = f"{_round_up(cost - bound):.1g} {currency}".strip()
            return f"Optimal within {gap}, which is proved. {note}".strip()
        said = (
            f"Not proved optimal: no policy costs less than {format_amount(bound, currency)} on "
            f"average. {describe_excess(cost, bound, currency)}"
        )
        return f"{said} {note}" if note else said

    @property
    def root(self) -> Node:
        """The first node."""
        return self.nodes[-1]

    @property
    def expected_feature_cost(self) -> float:
        """What is spent on features, on average."""
        return self._expected(np.where(self._arrays.is_leaf, 0.0, self._arrays.amount))

    @property
    def expected_misclassification_cost(self) -> float:
        """What decisions cost, on average."""
        return self._expected(np.where(self._arrays.is_leaf, self._arrays.amount, 0.0))

    @property
    def expected_total_cost(self) -> float:
        """ETC(π), Equation 2."""
        return self._expected(self._arrays.amount)

    @property
    def expected_features(self) -> float:
        """The number of features that are acquired, on average."""
        return self._expected(self._arrays.n_features)

    @property
    def expected_rounds(self) -> float:
        """The number of rounds, on average: a round acquires one feature or several."""
        return self._expected(~self._arrays.is_leaf)

    @property
    def open_share(self) -> float:
        """The share of the cases that reach an open leaf."""
        return float(self._arrays.reach[self._arrays.is_leaf] @ self._arrays.is_open)

    def admit_open(self, status: str, *others: str) -> Policy:
        """Return this policy with a certificate that says which share of the cases is open.

        Parameters
        ----------
        status
            What stopped the work, if there are open leaves: "time" or "memory".
        others
            What else keeps the policy from being what its name says, in sentences.
        """
        share, notes = self.open_share, list(others)
        if share:
            limit = "in time" if status == "time" else "within the limit of states"
            part = f"{share:.1%}" if share >= 0.001 else "less than 0.1%"
            notes.insert(
                0,
                f"Not all of the policy was worked out {limit}: {part} of the cases reach a state "
                f"where it only decides.",
            )
        if not notes:
            return self
        note = " ".join([*notes, self.certificate.note]).strip()
        return self.certify(replace(self.certificate, exact=False, status=status, note=note))

    @property
    def least_cost(self) -> float:
        """What the policy costs at least, however it would go on at its open leaves.

        Nothing that is acquired there tells more than the target itself.
        """
        told = self._arrays.posterior @ self.problem.misclassification.min(axis=0)
        amounts = self._arrays.amount.copy()
        amounts[self._arrays.is_leaf] = np.where(
            self._arrays.is_open, told, amounts[self._arrays.is_leaf]
        )
        return self._expected(amounts)

    @property
    def n_acquisitions(self) -> int:
        """The number of acquisition nodes of the unfolded tree."""
        return int(self._arrays.counts(~self._arrays.is_leaf)[-1])

    @property
    def n_paths(self) -> int:
        """The number of leaves of the unfolded tree."""
        return self.path_counts[-1]

    @property
    def path_counts(self) -> tuple[int, ...]:
        """The number of leaves of the unfolded tree below each node."""
        return tuple(self._arrays.counts(self._arrays.is_leaf).tolist())

    @property
    def depth(self) -> int:
        """The largest number of acquisitions on a path."""
        return int(self._arrays.heights[-1])

    @property
    def costs_to_go(self) -> tuple[float, ...]:
        """What is still to be paid from each node on, on average."""
        return tuple(self._arrays.totals(self._arrays.amount).tolist())

    @property
    def reach_probabilities(self) -> tuple[float, ...]:
        """The probability of reaching each node, over all paths."""
        return tuple(self._arrays.reach.tolist())

    def follow(self, case: Evidence) -> Node:
        """Return the first acquisition for which the case has no result, or the leaf of the case.

        The case gives states, or raw values that stand for them.

        >>> import voilattice
        >>> policy = voilattice.build_policy(voilattice.load_problem("asia"), "greedy-la")
        >>> policy.follow({"tub": "no"}).features
        ('xray',)
        >>> policy.follow({"tub": "no", "xray": "no"}).decision
        'no'
        """
        known = {feature: self.problem.state_of(feature, value) for feature, value in case.items()}
        for feature, state in self.problem.evidence.items():
            if known.get(feature, state) != state:
                raise InputError(f"{feature!r} is {state!r} by the problem's own evidence")
        node = self.root
        while isinstance(node, Acquisition) and all(f in known for f in node.features):
            found = tuple(known[feature] for feature in node.features)
            ways = [branch.child for branch in node.branches if branch.states == found]
            if not ways:
                given = ", ".join(f"{f}={v}" for f, v in zip(node.features, found, strict=True))
                raise InputError(f"{given} is impossible there: its probability is 0")
            node = self.nodes[ways[0]]
        return node

    def locate(self, evidence: Evidence) -> int | None:
        """Return the number of the node that is reached with exactly this evidence.

        Parameters
        ----------
        evidence
            All that is known beyond the problem's own evidence.

        Returns
        -------
        int or None
            None: the evidence is not on the tree. A feature is known that the policy did not ask
            for, or not all that it acquires together.
        """
        found = self.walk(evidence)
        return None if found is None else found[0]

    def walk(self, evidence: Evidence) -> tuple[int, tuple[Acquisition, ...]] | None:
        """Return the node that `locate` finds, and the acquisitions on the way to it."""
        known = self.problem.further(self.problem.merge_evidence(evidence))
        number, way = len(self.nodes) - 1, list[Acquisition]()
        while isinstance(node := self.nodes[number], Acquisition):
            found = tuple(known[feature] for feature in node.features if feature in known)
            if not found:
                break
            children = [branch.child for branch in node.branches if branch.states == found]
            if not children:  # a part of what is acquired together, or an outcome of probability 0
                return None
            number = children[0]
            way.append(node)
        asked = {feature for node in way for feature in node.features}
        return (number, tuple(way)) if asked == set(known) else None

    def acquired_from(self, number: int) -> frozenset[str]:
        """Return the features that are acquired at a node or below it."""
        acquired = self._arrays.what[self._arrays.below(number)]
        sets = np.unique(acquired[acquired >= 0]).tolist()
        return frozenset(f for s in sets for f in self._arrays.sets[s].features)

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

    @property
    def _arrays(self) -> Nodes:
        assert isinstance(self.nodes, Nodes)
        return self.nodes

    def _expected(self, amounts: NDArray[np.float64] | NDArray[np.bool_]) -> float:
        """Return the expectation of a sum along the paths."""
        return float(self._arrays.reach @ amounts)


def describe_excess(cost: float, bound: float, currency: str = "") -> str:
    """Return what a policy can cost above the optimum, in a sentence."""
    excess = max(cost - bound, 0.0)  # a bound can be above the cost by a rounding error
    share = excess / max(cost, TOLERANCE)
    return f"It costs at most {format_amount(excess, currency)} ({share:.1%}) too much."


def _round_up(amount: float) -> float:
    """Return the amount rounded up to one digit: what is proved must not be understated."""
    unit = 10.0 ** math.floor(math.log10(amount))
    return math.ceil(amount / unit) * unit
