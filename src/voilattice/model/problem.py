"""A problem: a network, a target, the features that can be acquired, and what everything costs.

The network holds P(Y, X). One node is the target Y. The features are the nodes whose state can be
bought. All other nodes are *hidden*: they are never acquired and never evidence, but part of P.
Evidence e that is known from the start is free. Evidence may be given as raw values, such as
numbers for features with bins (`model.raw_values`); it is kept as states.

Every later stage takes a `Problem`. It is checked once, when it is created, and it translates
between the names that users give and the indices that the code uses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np

from voilattice.errors import InputError, UnknownNameError, VoilatticeError, located
from voilattice.model.acquisition import NO_LIMITS, Constraint, Feasibility, PathLimits
from voilattice.model.costs import CostModel, FeatureCosts, Pricing, pricing_of
from voilattice.model.descriptions import describe_problem, describe_rules, problem_html
from voilattice.model.elimination import prior, scaled_joint_table
from voilattice.model.labels import check_labels, explained_by_labels, hint_label
from voilattice.model.monotonicity import CostCheck, check_monotone
from voilattice.model.network import Network, Table, check_text
from voilattice.model.raw_values import StateReader, check_cuts
from voilattice.model.references import check_constraints
from voilattice.model.stakes import (
    CostMatrix,
    as_matrix,
    check_matrix,
    cost_matrix,
    scaled_costs,
)
from voilattice.wording import nearest, quote

__all__ = ["Evidence", "Problem", "check_problem", "impossible"]

# The state of each known feature, or a raw value that stands for it.
Evidence: TypeAlias = Mapping[str, Any]

Misclassification: TypeAlias = (
    CostMatrix | Sequence[Sequence[float]] | Mapping[str, Mapping[str, float]] | tuple[str, float]
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem:
    """A cost-sensitive feature acquisition problem (paper, Section 2).

    `Problem.create` makes one from plain Python values, `voilattice.load_problem` from a file.
    """

    network: Network
    target: str
    features: tuple[str, ...]
    costs: CostModel
    misclassification: CostMatrix  # c_ij: [i = decision, j = actual class]
    evidence: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # cuts between the states
    decisions: tuple[str, ...] = ()  # the rows of the matrix; by default the classes
    labels: Mapping[str, str] = field(default_factory=dict)  # what people read for a node's name
    state_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    currency: str = ""  # shown with amounts
    constraints: tuple[Constraint, ...] = ()  # when features can be acquired
    limits: PathLimits = NO_LIMITS  # what any path may acquire at most
    feasibility: Feasibility = field(init=False)
    pricing: Pricing = field(init=False)  # the door to the costs
    cost_check: CostCheck = field(init=False)
    _places: dict[str, int] = field(init=False)  # the position of each feature in `features`

    def __post_init__(self) -> None:
        with located("network.target"):
            self.network.index(self.target)
        decisions, matrix = check_matrix(self.misclassification, self.decisions, self.classes)
        object.__setattr__(self, "misclassification", matrix)
        object.__setattr__(self, "decisions", decisions)
        object.__setattr__(self, "features", tuple(self.features))
        self._check_features()
        object.__setattr__(self, "_places", {name: k for k, name in enumerate(self.features)})
        if not isinstance(self.costs, CostModel):
            raise InputError(
                f"must be prices or an object with a method cost(features, evidence), "
                f"got {quote(self.costs)}",
                "costs",
            )
        if not isinstance(self.limits, PathLimits):
            raise InputError(f"must be PathLimits, got {quote(self.limits)}", "limits")
        object.__setattr__(self, "constraints", tuple(self.constraints))
        check_constraints(self)
        object.__setattr__(self, "feasibility", Feasibility(self))
        pricing = pricing_of(self.costs)
        pricing.check_names(self)
        pricing = pricing.in_order(self._batch_order() if pricing.counts_order else {})
        object.__setattr__(self, "pricing", pricing)
        object.__setattr__(self, "costs", pricing.given)
        if not isinstance(self.bins, Mapping):
            raise InputError(
                f"must be a mapping of features to cuts, got {quote(self.bins)}", "bins"
            )
        bins: dict[str, tuple[float, ...]] = {}
        for feature, cuts in self.bins.items():
            with located(f"bins.{feature}"):
                self.check_feature(feature)
                bins[feature] = check_cuts(cuts, len(self.states(feature)))
        object.__setattr__(self, "bins", MappingProxyType(bins))
        for place, text in (("title", self.title), ("currency", self.currency)):
            if text != "":
                check_text(text, place)
        labels, state_labels = check_labels(self.network, self.labels, self.state_labels)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "state_labels", state_labels)
        evidence: dict[str, str] = {}
        for feature, value in self.evidence.items():
            with located(f"evidence.{feature}"):
                evidence[feature] = self.state_of(feature, value)
        object.__setattr__(self, "evidence", MappingProxyType(evidence))
        with located("evidence"):
            self.check_possible(self.evidence)
        states = {name: self.states(name) for name in self.features}
        object.__setattr__(self, "cost_check", check_monotone(self.pricing, states, self.evidence))

    @classmethod
    def create(
        cls,
        network: Network,
        target: str,
        costs: CostModel | Mapping[str, float],
        misclassification: Misclassification,
        *,
        features: Sequence[str] | None = None,
        evidence: Evidence | None = None,
        title: str = "",
        bins: Mapping[str, Sequence[float]] | None = None,
        decisions: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        state_labels: Mapping[str, Mapping[str, str]] | None = None,
        currency: str = "",
        constraints: Iterable[Constraint] = (),
        limits: PathLimits | Mapping[str, float] = NO_LIMITS,
    ) -> Problem:
        """Make a problem from plain values.

        Parameters
        ----------
        costs
            The price of each feature, or any object with the method of `CostModel`.
        misclassification
            c_ij as an array [decision, class], as ``{decision: {class: cost}}``, or as a scaled
            kind: ``("symmetric", expected)`` or ``("asymmetric", expected)``.
        features
            What can be acquired; by default every node but the target.
        evidence
            What is known from the start: states, or raw values that stand for them.
        bins
            For features whose states are bins of numbers: the cuts between the states, increasing.
        decisions
            The names of the rows of an array, if they are not the classes.
        labels, state_labels
            What people read in place of the name of a node, and of the states of a node.
        currency
            Shown with amounts, such as ``CAD``.
        constraints
            When features can be acquired.
        limits
            What any path may acquire at most: ``{"spend": 100, "features": 3, "rounds": 2}``, or
            some of these.

        >>> from voilattice import Network, Problem, evi
        >>> n = Network.from_tables(
        ...     {"ill": ["yes", "no"], "test": ["+", "-"]},
        ...     {"test": ["ill"]},
        ...     {"ill": [0.1, 0.9], "test": [[0.8, 0.2], [0.1, 0.9]]},
        ... )
        >>> p = Problem.create(n, "ill", {"test": 3}, ("asymmetric", 100))
        >>> round(evi(p, {"test"}), 6)
        70.0
        >>> rows = {"treat": {"yes": 0, "no": 30}, "refer": {"yes": 20, "no": 20},
        ...         "wait": {"yes": 90, "no": 0}}
        >>> Problem.create(n, "ill", {"test": 3}, rows).decisions
        ('treat', 'refer', 'wait')
        """
        if not isinstance(network, Network):
            raise InputError(
                f"must be a voilattice.Network, got {quote(network)}; "
                f"Network.from_pyagrum and Network.from_pgmpy convert other networks",
                "network",
            )
        with located("network.target"), explained_by_labels(target, labels):
            node = network.index(target)
        if features is None:
            features = [name for name in network.names if name != target]
        if isinstance(costs, Mapping):
            costs = FeatureCosts(costs)
        for name, given in (
            ("features", features), ("decisions", decisions), ("constraints", constraints)
        ):  # fmt: skip
            if isinstance(given, str) or not isinstance(given, Iterable | None):
                raise InputError(f"must be a list, got {quote(given)}", name)
        if not isinstance(evidence, Mapping | None):
            raise InputError(
                f"must be a mapping such as {{'X1': 'T'}}, got {quote(evidence)}", "evidence"
            )
        own, matrix = _cost_matrix(misclassification, network, node)
        if decisions is not None and own is not None:
            raise InputError("names the rows of an array; these costs name theirs", "decisions")
        return cls(
            network,
            target,
            tuple(features),
            costs,
            matrix,
            dict(evidence or {}),
            title,
            cast(Mapping[str, tuple[float, ...]], bins or {}),  # the constructor makes the tuples
            own or network.states[node] if decisions is None else tuple(decisions),
            labels=labels or {},
            state_labels=state_labels or {},
            currency=currency,
            constraints=tuple(constraints or ()),
            limits=limits if isinstance(limits, PathLimits) else PathLimits.of(limits),
        )

    def with_expected(self, kind: str, expected: float) -> Problem:
        """Return this problem with misclassification costs of a scaled kind: decide on a class."""
        cost = scaled_costs(kind, expected, self.prior.tolist())
        return replace(self, misclassification=cost, decisions=self.classes)

    def with_evidence(self, evidence: Evidence | None) -> Problem:
        """Return this problem with more evidence known from the start."""
        return replace(self, evidence=self.merge_evidence(evidence)) if evidence else self

    def without(self, features: Collection[str], known: Collection[str] = ()) -> Problem:
        """Return this problem with some features hidden: they cannot be acquired or known.

        Features that can be acquired only after them are hidden too, unless they are `known`.
        """
        if not features:
            return self
        self.feature_mask(features)  # checks that they are features
        if own := sorted(set(features) & set(self.evidence)):
            raise InputError(f"{own[0]!r} is evidence of the problem")
        features = self._locked_without(features, {*known, *self.evidence})
        costs = self.pricing.without(features)
        left = tuple(name for name in self.features if name not in features)
        bins = {name: cuts for name, cuts in self.bins.items() if name not in features}
        constraints = tuple(
            replace(c, not_if=tuple((f, state) for f, state in c.not_if if f not in features))
            for c in self.constraints
            if c.feature not in features
            and not any(f in features for f in c.needs)
            and (c.needs or any(f not in features for f, _ in c.not_if))
        )
        return replace(self, features=left, costs=costs, bins=bins, constraints=constraints)

    def _locked_without(self, features: Collection[str], known: Collection[str]) -> frozenset[str]:
        """Return the features, and those that can be acquired only after one of them."""
        gone, before = set(features), 0
        while len(gone) != before:
            before = len(gone)
            gone |= {
                c.feature
                for c in self.constraints
                if c.feature not in known and any(f in gone for f in c.needs)
            }
        return frozenset(gone)

    # -- contents

    @property
    def classes(self) -> tuple[str, ...]:
        """The states of the target."""
        return self.states(self.target)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The nodes that are neither target nor feature."""
        return tuple(
            name for name in self.network.names if name != self.target and name not in self._places
        )

    @property
    def prior(self) -> Table:
        """P(Y), before any evidence."""
        return prior(self.network, self.network.index(self.target))

    def states(self, name: str) -> tuple[str, ...]:
        """Return the states of a node."""
        return self.network.states[self.network.index(name)]

    # -- what people read

    def label(self, name: str) -> str:
        """Return what people read for a node: its label, or its name."""
        return self.labels.get(name, name)

    def state_label(self, name: str, state: str) -> str:
        """Return what people read for a state of a node: its label, or its name."""
        return self.state_labels.get(name, {}).get(state, state)

    def name_and_label(self, name: str) -> str:
        """Return the name of a node and, where it has one, its label: what to type, what to read.

        >>> import voilattice
        >>> voilattice.load_problem("asia").name_and_label("xray")
        'xray'
        """
        return f"{name} ({self.labels[name]})" if name in self.labels else name

    def state_and_label(self, name: str, state: str) -> str:
        """Return the name of a state of a node and, where it has one, its label."""
        label = self.state_label(name, state)
        return state if label == state else f"{state} ({label})"

    @property
    def round_cost(self) -> float:
        """What each round costs, whatever it brings."""
        return self.pricing.round_cost

    @property
    def counts_rounds(self) -> bool:
        """Whether it matters how many features come in one round."""
        return bool(self.round_cost) or self.limits.rounds is not None

    def describe_rules(self) -> list[str]:
        """Return the constraints, the limits and the cost of a round, in sentences.

        >>> from dataclasses import replace
        >>> import voilattice
        >>> asia = voilattice.load_problem("asia")
        >>> rule = voilattice.Constraint("bronc", after=["xray"], not_if={"smoke": "yes"})
        >>> replace(asia, constraints=(rule,)).describe_rules()
        ['bronc can be acquired after xray, not if smoke = yes.']
        """
        return describe_rules(self)

    # -- from raw values to states

    def reader(self, name: str) -> StateReader:
        """Return what reads the raw values of a node as its states."""
        return StateReader(name, self.states(name), self.bins.get(name, ()))

    def state_of(self, feature: str, value: object) -> str:
        """Return the state of a feature that a raw value stands for.

        >>> import voilattice
        >>> heart = voilattice.load_problem("heart")
        >>> heart.state_of("age", 46), heart.state_of("age", "54.5"), heart.state_of("ca", 2.0)
        ('<54.5', '>=54.5', '2')
        """
        self.check_feature(feature)
        states = self.states(feature)
        if isinstance(value, str) and value in states:
            return value
        with explained_by_labels(value, self.state_labels.get(feature)):
            return states[self.reader(feature).code(value)]

    # -- from names to indices and bitmasks

    def feature_mask(self, features: Iterable[str]) -> int:
        """Return a set of features as a bitmask: bit k stands for the k-th feature."""
        mask = 0
        for feature in _names(features):
            self.check_feature(feature)
            mask |= 1 << self._places[feature]
        return mask

    def feature_names(self, mask: int) -> frozenset[str]:
        """Return the set of features that a bitmask stands for."""
        return frozenset(name for k, name in enumerate(self.features) if mask >> k & 1)

    def merge_evidence(self, evidence: Evidence | None) -> dict[str, str]:
        """Return the problem's own evidence together with `evidence`, checked, as states."""
        if not isinstance(evidence, Mapping | None):
            raise InputError(
                f"evidence must be a mapping such as {{'X1': 'T'}}, got {quote(evidence)}"
            )
        known = dict(self.evidence)
        for feature, value in (evidence or {}).items():
            known[feature] = self.state_of(feature, value)
            if feature in self.evidence:
                raise InputError(f"{feature!r} is evidence of the problem already")
        return known

    def further(self, known: Mapping[str, str]) -> dict[str, str]:
        """Return the part of the evidence that is not the problem's own."""
        return {f: state for f, state in known.items() if f not in self.evidence}

    def check_acquirable(self, features: Iterable[str], known: Mapping[str, str]) -> frozenset[str]:
        """Check that each of `features` is a feature and not yet known; return them as a set."""
        chosen: set[str] = set()
        for feature in _names(features):
            self.check_feature(feature)
            if feature in known:
                raise InputError(f"{feature!r} is known already ({known[feature]!r})")
            if feature in chosen:
                raise InputError(f"{feature!r} is asked for twice")
            chosen.add(feature)
        return frozenset(chosen)

    def node_states(self, known: Mapping[str, str]) -> dict[int, int]:
        """Return evidence by indices: the state of each known node."""
        nodes = {name: self.network.index(name) for name in known}
        return {nodes[n]: self.network.state_index(nodes[n], state) for n, state in known.items()}

    def joint(self, known: Mapping[str, str]) -> Table:
        """Return P(Y, e), up to a factor; all 0: the evidence is impossible."""
        target = self.network.index(self.target)
        return scaled_joint_table(self.network, [target], self.node_states(known)).table

    def check_possible(self, known: Mapping[str, str]) -> None:
        """Raise `InputError` when P(e) = 0."""
        if known and not self.joint(known).any():
            raise impossible(known)

    # -- checks

    def _check_features(self) -> None:
        seen: set[str] = set()
        with located("network.features"):
            for feature in self.features:
                with explained_by_labels(feature, self.labels):
                    self.network.index(feature)
                if feature == self.target:
                    raise InputError(f"{feature!r} is the target; it cannot be a feature")
                if feature in seen:
                    raise InputError(f"{feature!r} appears twice")
                seen.add(feature)

    def check_feature(self, name: str) -> None:
        """Raise `InputError` or `UnknownNameError` unless this is one of the features."""
        if name == self.target:
            raise InputError(f"{name!r} is the target, not a feature")
        if name not in self._places:
            if name in self.network.names:
                raise InputError(f"{name!r} is hidden: it is not one of the features")
            hint = hint_label(name, self.labels) or nearest(name, self.features)
            raise UnknownNameError(f"no feature {quote(name)}{hint}")

    def _batch_order(self) -> dict[str, frozenset[str]]:
        """Return which features come before a feature of a batch."""
        names, after = self.feature_names, self.feasibility.after
        return {self.features[k]: names(mask) for k, mask in after.items()}

    # -- comparing and printing

    def _key(self) -> tuple[object, ...]:
        rules = (self.constraints, self.limits)
        return (self.network, self.target, self.features, self.title, *rules)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        return (
            self._key() == other._key()
            and self.costs == other.costs
            and self.evidence == other.evidence
            and self.bins == other.bins
            and self.labels == other.labels
            and self.state_labels == other.state_labels
            and self.currency == other.currency
            and self.decisions == other.decisions
            and np.array_equal(self.misclassification, other.misclassification)
        )

    def __hash__(self) -> int:
        # Costs are left out: a user-defined cost object may not be hashable.
        return hash(
            (
                self._key(),
                frozenset(self.evidence.items()),
                frozenset(self.bins.items()),
                self.misclassification.tobytes(),
                self.decisions,
            )
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (
            self.network,
            self.target,
            self.features,
            self.costs,
            self.misclassification,
            dict(self.evidence),
            self.title,
            dict(self.bins),
            self.decisions,
            dict(self.labels),
            {name: dict(labels) for name, labels in self.state_labels.items()},
            self.currency,
            self.constraints,
            self.limits,
        )

    def __repr__(self) -> str:
        return (
            f"<Problem {self.title!r}: target {self.target}, {len(self.features)} features, "
            f"{len(self.hidden)} hidden>"
        )

    def __str__(self) -> str:
        return describe_problem(self)

    def _repr_html_(self) -> str:
        return problem_html(self)


def check_problem(problem: object) -> None:
    """Raise `InputError` unless this is a problem; a name or a path must be loaded first."""
    if not isinstance(problem, Problem):
        hint = "; load_problem loads one by name or path" if isinstance(problem, str | Path) else ""
        raise InputError(f"must be a voilattice.Problem, got {quote(problem)}{hint}", "problem")


def _cost_matrix(
    given: Misclassification, network: Network, target: int
) -> tuple[tuple[str, ...] | None, CostMatrix]:
    """Return the decisions and the matrix; None: the rows of an array have no names."""
    classes = network.states[target]
    with located("misclassification"):
        if isinstance(given, Mapping):
            return cost_matrix(given, classes)
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
            kind, expected = given
            return classes, scaled_costs(kind, expected, prior(network, target).tolist())
    return None, as_matrix(given)


def _names(features: Iterable[str]) -> Iterable[str]:
    if isinstance(features, str):
        raise InputError(f"expected a set of features, got the text {quote(features)}")
    if not hasattr(features, "__iter__"):
        raise InputError(f"expected a set of features, got {quote(features)}")
    return features


def impossible(known: Mapping[str, str]) -> VoilatticeError:
    """Return the error for evidence of probability 0."""
    given = ", ".join(f"{name}={state}" for name, state in known.items())
    return InputError(f"{given} is impossible: its probability is 0 in this network")
