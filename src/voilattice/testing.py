"""Checks for user-defined solvers.

`check_solver` asks a solver for policies of a few small problems, with groups, discounts,
conditional prices, several classes, own decisions, impossible outcomes, evidence, constraints,
limits and rounds. It compares the answers with the definitions: Equation 1 at the leaves, the
prices along each path, Equation 2 over the paths. No path may acquire what it cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from voilattice.errors import VoilatticeError
from voilattice.files.problems import load_problem
from voilattice.model.acquisition import Constraint, PathLimits
from voilattice.model.costs import ConditionalCost, Discount, FeatureCosts, Group
from voilattice.model.network import Network
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Path, Policy
from voilattice.policy.solvers import Limits, Solver, build_policy
from voilattice.ties import tolerance
from voilattice.valuation.valuation import cost, emc, posterior

__all__ = ["check_solver", "small_problems"]

MAX_PATHS = 200  # the first paths of each policy that are checked


def small_problems() -> Iterator[Problem]:
    """Return problems that are solved quickly and together use every kind of cost and evidence."""
    yield load_problem("figure1")
    yield load_problem("figure3")
    asia = load_problem("asia")
    yield asia
    yield asia.with_evidence({"smoke": "yes"})
    yield asia.with_expected("asymmetric", 0.0)
    network = Network.from_tables(
        {"Y": ["a", "b", "c"], "X1": ["0", "1"], "X2": ["0", "1", "2"], "X3": ["0", "1"]},
        {"X1": ["Y"], "X2": ["Y", "X1"]},
        {
            "Y": [0.5, 0.3, 0.2],
            "X1": [[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]],
            "X2": [
                [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
                [[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]],
                [[0.3, 0.3, 0.4], [0.0, 0.5, 0.5]],
            ],
            "X3": [0.5, 0.5],
        },
    )
    costs = FeatureCosts(
        {"X1": 2.0, "X2": 4.0, "X3": 1.0},
        (Group("visit", 3.0, ("X1", "X2")),),
        (ConditionalCost("X2", (("X3", "0"),), 0.5),),
    )
    stakes = [[1, 40, 60], [50, 0, 30], [80, 20, 2]]
    yield Problem.create(network, "Y", costs, stakes)
    # X3 says nothing, but it costs less than it takes off X2.
    discount = Discount("lab", {"X2": 6.0, "X3": 0.5})
    cheaper = FeatureCosts({"X1": 2.0, "X2": 7.0, "X3": 1.0}, discounts=(discount,))
    yield Problem.create(network, "Y", cheaper, stakes)
    # Decisions that are no classes; one of them costs the same whatever Y is.
    own = {
        "act": {"a": 0, "b": 50, "c": 70},
        "wait": {"a": 40, "b": 5, "c": 30},
        "c": {"a": 90, "b": 60, "c": 0},
        "refer": {"a": 18, "b": 18, "c": 18},
    }
    yield Problem.create(network, "Y", costs, own)
    # X3 says nothing, but it must come before X2. Rounds cost something, and limits bind.
    visits = FeatureCosts({"X1": 2.0, "X2": 4.0, "X3": 1.0}, round_cost=1.5)
    rules = (Constraint("X2", after=("X3",), not_if=(("X1", "1"),)),)
    yield Problem.create(network, "Y", visits, stakes, constraints=rules)
    yield Problem.create(network, "Y", visits, stakes, limits={"rounds": 1, "features": 2})
    yield Problem.create(network, "Y", costs, stakes, constraints=rules, limits={"spend": 6.0})


def check_solver(solver: Solver, problems: Iterable[Problem] | None = None) -> None:
    """Raise `AssertionError`, with an explanation, if a solver gives a wrong answer.

    Parameters
    ----------
    problems
        The problems to solve; by default `small_problems`.

    >>> from voilattice.policy.solvers import RuleSolver, solver_of
    >>> check_solver(solver_of("greedy"))
    >>> check_solver(RuleSolver("first", lambda s: s.alone & -s.alone))  # what can be acquired now
    """
    _check(isinstance(solver, Solver), "it does not implement all of the interface `Solver`")
    _check(isinstance(solver.name, str) and bool(solver.name), "its name must be non-empty text")
    for problem in small_problems() if problems is None else problems:
        try:
            _check_on(solver, problem)
        except AssertionError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise AssertionError(f"it fails on {problem!r} with {what}") from error


def _check_on(solver: Solver, problem: Problem) -> None:
    policy = solver.build(problem, Limits())
    _check_policy(solver, problem, policy)
    _check_costs(solver, problem, policy)
    _check_steps(solver, problem, policy)
    again = solver.build(problem, Limits())
    _check(again.nodes == policy.nodes, f"two builds of one policy differ on {problem!r}")
    _check_limits(solver, problem)


def _check_policy(solver: Solver, problem: Problem, policy: Policy) -> None:
    _check(isinstance(policy, Policy), "build must return a Policy")
    _check(policy.name == solver.name, f"the policy is called {policy.name!r}")
    _check(policy.problem == problem, "the policy belongs to another problem")
    for path, _ in zip(policy.paths(), range(MAX_PATHS), strict=False):
        spent, known = 0.0, dict(path.evidence)
        for features, before, left in _acquisitions(policy, path):
            price = cost(problem, features, before)
            _check_allowed(problem, features, before, left, price)
            spent += price
        _check_equal(path.feature_cost, spent, f"the price of the path {known}")
        _check_equal(path.leaf.emc, emc(problem, known), f"the EMC at {known}")
        risk = problem.misclassification[problem.decisions.index(path.leaf.decision)]
        _check_equal(
            float(risk @ path.leaf.posterior), path.leaf.emc, f"what is decided at {known} costs"
        )
        belief = dict(zip(problem.classes, path.leaf.posterior, strict=True))
        for y, p in posterior(problem, known).items():
            _check_equal(belief[y], p, f"P({problem.target} = {y}) at {known}")
    total = sum(path.probability for path in policy.paths())
    _check_equal(total, 1.0, "the probabilities of all paths together")


def _check_costs(solver: Solver, problem: Problem, policy: Policy) -> None:
    expected = sum(path.probability * path.total_cost for path in policy.paths())
    _check_equal(policy.expected_total_cost, expected, "the expected total cost (Eq. 2)")
    found = solver.cost(problem, Limits())
    _check(found.expected_total_cost is not None, "`cost` does not say what a small policy costs")
    _check_equal(found.expected_total_cost or 0.0, expected, "the answer of `cost`")
    optimum = build_policy(replace(problem, title=""), "optimal", time_limit=None)
    slack = tolerance(max(expected, emc(problem)))
    _check(
        expected >= optimum.expected_total_cost - slack,
        f"the policy costs {expected}, less than the optimum {optimum.expected_total_cost}",
    )
    for certificate in (policy.certificate, found.certificate):
        bound = certificate.lower_bound
        if bound is not None:
            _check(
                bound <= optimum.expected_total_cost + slack,
                f"lower_bound is {bound}, above the optimum {optimum.expected_total_cost}",
            )
            _check(
                not certificate.exact or abs(bound - expected) <= slack,
                f"it says exact, but its cost {expected} is not its lower_bound {bound}",
            )


def _check_steps(solver: Solver, problem: Problem, policy: Policy) -> None:
    for path, _ in zip(policy.paths(), range(MAX_PATHS), strict=False):
        for features, known, left in _acquisitions(policy, path, with_leaf=True):
            wanted = frozenset(features)
            step = solver.next_step(replace(problem, limits=left), known, Limits())
            _check(
                step.features == wanted,
                f"next_step says {sorted(step.features)} at {known}, the policy {sorted(wanted)}",
            )


def _acquisitions(
    policy: Policy, path: Path, *, with_leaf: bool = False
) -> Iterator[tuple[tuple[str, ...], dict[str, str], PathLimits]]:
    """Yield what a path acquires, what is known before, and what is left of the limits then."""
    problem, found = policy.problem, dict(path.evidence)
    known, left, node = dict[str, str](), problem.limits, policy.root
    while isinstance(node, Acquisition):
        yield node.features, dict(known), left
        left = left.after(cost(problem, node.features, known), len(node.features))
        known |= {feature: found[feature] for feature in node.features}
        node = policy.follow(known)
    if with_leaf:
        yield (), known, left


def _check_allowed(
    problem: Problem,
    features: tuple[str, ...],
    known: dict[str, str],
    left: PathLimits,
    price: float,
) -> None:
    rules, mask = problem.feasibility, problem.feature_mask(features)
    everything = {**problem.evidence, **known}
    _check(
        rules.is_feasible(mask, everything),
        f"{sorted(features)} cannot be acquired at {known}: "
        f"{' '.join(rules.obstacles(mask, everything))}",
    )
    _check(
        left.allows(price, len(features)),
        f"{sorted(features)} at {known} exceeds the limits; what is left is {left.describe()}",
    )


def _check_limits(solver: Solver, problem: Problem) -> None:
    """Allow one state and no time: the solver may refuse, but only with a `VoilatticeError`."""
    try:
        policy = solver.build(problem, Limits(max_states=1, time_limit=0.0))
    except VoilatticeError:
        return
    _check(len(policy.nodes) == 1, "the policy has more states than max_states = 1 allows")


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _check_equal(found: float, wanted: float, what: str) -> None:
    _check(
        abs(found - wanted) <= 10 * tolerance(max(abs(found), abs(wanted))),
        f"{what} is {wanted}, the solver says {found}",
    )
