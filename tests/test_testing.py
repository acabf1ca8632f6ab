"""The check of solvers passes those that behave and no others."""

from dataclasses import dataclass, replace

import pytest
from helpers.solving import POLICIES

from voilattice import load_problem
from voilattice.errors import InputError
from voilattice.model.acquisition import PathLimits
from voilattice.policy import solvers
from voilattice.policy.policy import Certificate
from voilattice.policy.solvers import (
    Cost,
    RuleSolver,
    Step,
    build_policy,
    policy_names,
    register,
    solver_of,
    unregister,
)
from voilattice.testing import check_solver, small_problems


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_every_built_in_solver_behaves(name):
    check_solver(solver_of(name))


def first_feature(situation):
    return situation.alone & -situation.alone


def test_a_rule_of_ones_own_can_be_registered():
    register(RuleSolver("first", first_feature))
    try:
        assert policy_names()[-1] == "first"
        policy = build_policy(load_problem("asia"), "first")
        assert policy.name == "first"
        with pytest.raises(InputError, match="there is a policy 'first' already"):
            register(RuleSolver("first", first_feature))
    finally:
        unregister("first")
    assert "first" not in policy_names()


def test_what_is_no_solver_is_refused():
    with pytest.raises(InputError, match="a solver has name, looks_ahead"):
        register(lambda problem: None)


@pytest.mark.slow
@dataclass(frozen=True)
class Wrong:
    """A solver that tells one lie."""

    lie: str
    name: str = "wrong"
    looks_ahead: bool = False
    why_acquire: str = ""
    why_decide: str = ""

    @property
    def _honest(self):
        return RuleSolver("wrong", first_feature)

    def build(self, problem, limits, *, sweep=None, progress=None):
        policy = self._honest.build(problem, limits)
        first, *between, last = policy.nodes if len(policy.nodes) > 1 else (*policy.nodes, None)
        changes = {
            "name": {"name": "other"},
            "problem": {"problem": replace(problem, title="another")},
            "bound": {"certificate": Certificate(1e6, False)},
            "exact": {"certificate": Certificate(0.0, True)},
        }
        if last is not None:
            changes["price"] = {"nodes": (first, *between, replace(last, price=0.01))}
            changes["risk"] = {"nodes": (replace(first, emc=first.emc + 1), *between, last)}
        return replace(policy, **changes.get(self.lie, {}))

    def cost(self, problem, limits, *, sweep=None):
        found = self._honest.cost(problem, limits)
        return Cost(found.expected_total_cost - (self.lie == "cost"), found.certificate)

    def next_step(self, problem, evidence, limits):
        step = self._honest.next_step(problem, evidence, limits)
        return Step(frozenset()) if self.lie == "step" else step


def test_the_honest_one_passes():
    check_solver(Wrong("none"))


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("name", "the policy is called 'other'"),
        ("problem", "another problem"),
        ("bound", "above the optimum"),
        ("exact", "it says exact"),
        ("price", "the price of the path"),
        ("risk", "the EMC at"),
        ("cost", "the answer of `cost`"),
        ("step", "next_step says"),
    ],
)
def test_a_solver_that_tells_a_lie_is_caught(lie, said):
    with pytest.raises(AssertionError, match=said):
        check_solver(Wrong(lie))


def test_the_problems_have_something_of_everything():
    problems = list(small_problems())
    assert any(problem.evidence for problem in problems)
    assert any(len(problem.classes) > 2 for problem in problems)
    assert any(problem.costs.conditional for problem in problems)
    assert any(problem.costs.groups for problem in problems)
    assert any(problem.costs.discounts for problem in problems)


def test_the_solvers_of_installed_packages_are_known(monkeypatch):
    class Entry:
        value = "package:solver"

        def load(self):
            return RuleSolver("from-a-package", first_feature)

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Entry()])
    solvers._load_plugins.cache_clear()
    try:
        assert policy_names()[-1] == "from-a-package"
        check_solver(solver_of("from-a-package"))
    finally:
        unregister("from-a-package")
        solvers._load_plugins.cache_clear()


def test_a_package_whose_solver_cannot_be_loaded_is_named(monkeypatch):
    class Entry:
        value = "package:solver"

        def load(self):
            raise ImportError("no module 'package'")

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Entry()])
    solvers._load_plugins.cache_clear()
    with pytest.raises(InputError, match="voilattice.solvers, package:solver: cannot be loaded"):
        policy_names()
    monkeypatch.undo()
    solvers._load_plugins.cache_clear()
    assert "greedy" in policy_names()


@pytest.mark.parametrize("wrong", ["x", None, 1 << 40, -1, 0.5])
def test_a_rule_that_returns_no_mask_is_named(wrong):
    with pytest.raises(AssertionError, match="InputError: a rule"):
        check_solver(RuleSolver("wrong", lambda situation: wrong))


def test_a_rule_that_acquires_what_is_known_is_named():
    with pytest.raises(AssertionError, match="which is known already"):
        check_solver(RuleSolver("again", lambda situation: 1))


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_solver_needs_a_name(name):
    with pytest.raises(InputError, match="name: must be a text"):
        register(RuleSolver(name, first_feature))


def test_a_name_in_place_of_a_problem_is_refused_everywhere():
    import voilattice as vl

    for ask in (vl.emc, vl.best_set, vl.Lattice, vl.compare, lambda p: vl.advise(p, "greedy")):
        with pytest.raises(InputError, match="must be a voilattice.Problem, got 'asia'; load_prob"):
            ask("asia")


def test_a_solver_that_does_what_it_must_not_is_found_out():
    class Blind(RuleSolver):
        """A solver that builds policies as if there were no constraints and no limits."""

        def build(self, problem, limits, **more):
            free = replace(problem, constraints=(), limits=PathLimits())
            built = super().build(free, limits, **more)
            return replace(built, problem=problem)

    greedy = solver_of("greedy-la")
    blind = Blind(greedy.name, greedy.rule, looks_ahead=True)
    ruled = [p for p in small_problems() if p.constraints or p.limits]
    assert len(ruled) == 3
    for problem in ruled:
        staked = replace(problem, misclassification=40 * problem.misclassification)
        with pytest.raises(AssertionError, match=r"cannot be acquired at|exceeds the limits"):
            check_solver(blind, [staked])
