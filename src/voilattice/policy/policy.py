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

A tree may be too large to work out. Then some leaves are *open*: the work stopped there, and the
policy decides. The result is a policy like any other, with an exact cost of its own. Whoever
follows the policy can ask its solver how it goes on at an open leaf.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from voilattice.errors import InputError, VoilatticeError, within
from voilattice.model.costs import MAX_AMOUNT, check_amount
from voilattice.model.network import Table
from voilattice.model.problem import Evidence, Problem
from voilattice.policy.certificate import Certificate
from voilattice.ties import TOLERANCE, tolerance
from voilattice.wording import format_amount, quote

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

PROBABILITY_TOLERANCE = 1e-6
SHOWN = 0.005  # two decimals do not show a smaller gap


@dataclass(frozen=True, slots=True)
class Branch:
    """One joint outcome of what a node acquires."""

    states: tuple[str, ...]  # of the features, in their order
    probability: float  # given that the node is reached
    child: int  # the number of the node it leads to

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(self.states))


@dataclass(frozen=True, slots=True)
class Acquisition:
    """A node that acquires features together and branches on their values."""

    features: tuple[str, ...]
    price: float  # C(features | what is known there)
    branches: tuple[Branch, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "branches", tuple(self.branches))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A node that decides."""

    decision: str
    posterior: tuple[float, ...]
    emc: float
    is_open: bool = False  # the work stopped here: the policy of that name may acquire more

    def __post_init__(self) -> None:
        object.__setattr__(self, "posterior", tuple(self.posterior))

    @classmethod
    def at(cls, problem: Problem, belief: Table, *, is_open: bool = False) -> Leaf:
        """Return the leaf of a belief: the decision of lowest risk, the first one in a tie."""
        risk: list[float] = (problem.misclassification @ belief).tolist()
        least = min(risk)
        near = least + tolerance(least)
        decision = problem.decisions[next(i for i, r in enumerate(risk) if r <= near)]
        return cls(decision, tuple(belief.tolist()), least, is_open)


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


@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """A frozen policy for a problem.

    `nodes` holds each node after all the nodes that its branches lead to; the last one is the root.
    A complete policy also says how cases go on beyond its nodes (`cases.completion`).
    """

    problem: Problem
    name: str
    nodes: tuple[Node, ...]
    certificate: Certificate = field(default_factory=Certificate)
    is_complete: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if not self.nodes:
            raise InputError("a policy needs at least one node, found none")
        check = _Check(self.problem)
        below: list[int] = []  # the features acquired at a node or after it, as a mask
        for number, node in enumerate(self.nodes):
            try:
                if isinstance(node, Leaf):
                    check.leaf(node)
                    below.append(0)
                    continue
                here, later = check.acquisition(node, number), 0
                for branch in node.branches:
                    later |= below[branch.child]
                if later & here:
                    twice = min(self.problem.feature_names(later & here))
                    raise InputError(f"{twice!r} is acquired again at a later node")
                below.append(later | here)
            except VoilatticeError as error:
                raise type(error)(f"node {number}: {error.complaint}") from None

    def certify(self, certificate: Certificate, *, is_complete: bool | None = None) -> Policy:
        """Return the same policy with another certificate, without checking its nodes again."""
        certified = object.__new__(Policy)
        for name, value in (
            ("problem", self.problem),
            ("name", self.name),
            ("nodes", self.nodes),
            ("certificate", certificate),
            ("is_complete", self.is_complete if is_complete is None else is_complete),
        ):
            object.__setattr__(certified, name, value)
        return certified

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
        return self._expected(lambda node: node.price, lambda leaf: 0.0)

    @property
    def expected_misclassification_cost(self) -> float:
        """What decisions cost, on average."""
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
    def expected_rounds(self) -> float:
        """The number of rounds, on average: a round acquires one feature or several."""
        return self._expected(lambda node: 1.0, lambda leaf: 0.0)

    @property
    def open_share(self) -> float:
        """The share of the cases that reach an open leaf."""
        return self._expected(lambda node: 0.0, lambda leaf: float(leaf.is_open))

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
        told = self.problem.misclassification.min(axis=0)

        def at_leaf(leaf: Leaf) -> float:
            return float(told @ leaf.posterior) if leaf.is_open else leaf.emc

        return self._expected(lambda node: node.price, at_leaf)

    @property
    def n_acquisitions(self) -> int:
        """The number of acquisition nodes of the unfolded tree."""
        return self._counted(lambda children: 1 + sum(children), leaf=0)[-1]

    @property
    def n_paths(self) -> int:
        """The number of leaves of the unfolded tree."""
        return self.path_counts[-1]

    @property
    def path_counts(self) -> tuple[int, ...]:
        """The number of leaves of the unfolded tree below each node."""
        return tuple(self._counted(sum, leaf=1))

    @property
    def depth(self) -> int:
        """The largest number of acquisitions on a path."""
        return self._counted(lambda children: 1 + max(children), leaf=0)[-1]

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
        reached, found = {number}, set[str]()
        for k in range(number, -1, -1):
            node = self.nodes[k]
            if k in reached and isinstance(node, Acquisition):
                found.update(node.features)
                reached.update(branch.child for branch in node.branches)
        return frozenset(found)

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

    def _counted(self, at_node: Callable[[list[int]], int], *, leaf: int) -> list[int]:
        count: list[int] = []
        for node in self.nodes:
            if isinstance(node, Leaf):
                count.append(leaf)
            else:
                count.append(at_node([count[branch.child] for branch in node.branches]))
        return count


class _Check:
    """Checks the nodes of a policy; what it needs of the problem is looked up once."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._decisions, self._n_classes = problem.decisions, len(problem.classes)
        self._masks = {name: 1 << k for k, name in enumerate(problem.features)}
        self._states = {name: frozenset(problem.states(name)) for name in problem.features}

    def leaf(self, leaf: Leaf) -> None:
        """Raise `InputError` unless this is a leaf for the problem."""
        if leaf.decision not in self._decisions:
            raise InputError(f"the decision {quote(leaf.decision)} is not one of {self._decisions}")
        if len(leaf.posterior) != self._n_classes or not _is_distribution(leaf.posterior):
            raise InputError(f"the posterior {quote(leaf.posterior)} is not a distribution")
        _check_price("emc", leaf.emc)

    def acquisition(self, node: Acquisition, number: int) -> int:
        """Raise `InputError` unless this is an acquisition; return what it acquires, as a mask."""
        problem = self._problem
        if len(node.features) != 1 or node.features[0] not in self._masks or problem.evidence:
            problem.check_acquirable(node.features, problem.evidence)
        _check_price("price", node.price)
        if not node.features or not node.branches:
            raise InputError("an acquisition needs features and branches")
        if len({branch.states for branch in node.branches}) < len(node.branches):
            raise InputError("an outcome appears twice")
        for branch in node.branches:
            if not 0 <= branch.child < number:
                raise InputError(f"it leads to node {branch.child}, which must come before it")
            for feature, state in zip(node.features, branch.states, strict=True):
                if state not in self._states[feature]:
                    problem.merge_evidence({feature: state})
        if not _is_distribution([branch.probability for branch in node.branches]):
            raise InputError("the probabilities of its branches must be >= 0 and sum to 1")
        mask = 0
        for feature in node.features:
            mask |= self._masks[feature]
        return mask


def _check_price(what: str, amount: object) -> None:
    if type(amount) is float and 0.0 <= amount <= MAX_AMOUNT:
        return  # a shortcut for the usual case, because a policy may have a million nodes
    with within(what):
        check_amount(amount)


def describe_excess(cost: float, bound: float, currency: str = "") -> str:
    """Return what a policy can cost above the optimum, in a sentence."""
    excess = max(cost - bound, 0.0)  # a bound can be above the cost by a rounding error
    share = excess / max(cost, TOLERANCE)
    return f"It costs at most {format_amount(excess, currency)} ({share:.1%}) too much."


def _round_up(amount: float) -> float:
    """Return the amount rounded up to one digit: what is proved must not be understated."""
    unit = 10.0 ** math.floor(math.log10(amount))
    return math.ceil(amount / unit) * unit


def _is_distribution(probabilities: Sequence[float]) -> bool:
    in_range = all(0 <= p <= 1 + PROBABILITY_TOLERANCE for p in probabilities)
    return in_range and abs(sum(probabilities) - 1) <= PROBABILITY_TOLERANCE
