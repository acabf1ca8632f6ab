"""Which features to acquire, together or one by one, and when to stop and decide.

Given a Bayesian network, prices of features and costs of decisions, voilattice values sets
of features exactly: the Value of Information Lattice of Bilgic and Getoor (JAIR 41, 2011).

The package is a house of rooms along the data flow: `model` (networks, costs, problems), `lattice`
(irreducible sets), `valuation` (what sets are worth), `policy` (what to do, and in which order),
`optimal` (the best policy), `consultation` (one case), `cases` (many), `what_if` (other numbers),
`files`, `learning`, `drawing`, `paper`, `baselines` (methods of the literature), `arena` (all of
them on the same new cases), and the surfaces `sklearn`, `cli` and `web`. `parallel` is the door to
processes and clusters, `compiled` has the fast twin of each engine.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; typing itself need not be loaded
if TYPE_CHECKING:
    from typing import Any

    from voilattice.budgets import memory_limit
    from voilattice.cases.application import apply_policy
    from voilattice.cases.simulation import simulate
    from voilattice.consultation.advice import advise
    from voilattice.errors import VoilatticeError
    from voilattice.files.networks import read_network, write_network
    from voilattice.files.policies import load_policy, save_policy
    from voilattice.files.problems import load_problem, write_problem
    from voilattice.lattice.explanations import explain
    from voilattice.lattice.lattice import Lattice
    from voilattice.learning.problems import learn_problem
    from voilattice.model.acquisition import Constraint
    from voilattice.model.costs import ConditionalCost, Discount, FeatureCosts, Group
    from voilattice.model.network import Network
    from voilattice.model.problem import Problem
    from voilattice.policy.comparison import compare
    from voilattice.policy.policy import Policy
    from voilattice.policy.solvers import build_policy
    from voilattice.valuation.best_set import best_set
    from voilattice.valuation.valuation import benefit, cost, emc, evi, value

__all__ = [
    "ConditionalCost",
    "Constraint",
    "Discount",
    "FeatureCosts",
    "Group",
    "Lattice",
    "Network",
    "Policy",
    "Problem",
    "VoilatticeError",
    "advise",
    "apply_policy",
    "benefit",
    "best_set",
    "build_policy",
    "compare",
    "cost",
    "emc",
    "evi",
    "explain",
    "learn_problem",
    "load_policy",
    "load_problem",
    "memory_limit",
    "read_network",
    "save_policy",
    "simulate",
    "value",
    "write_network",
    "write_problem",
]

__version__ = "0.2.0"

# The module of each name: it is imported when the name is first used, so that the command line
# starts at once.
_HOMES = {
    "budgets": ("memory_limit",),
    "errors": ("VoilatticeError",),
    "files.networks": ("read_network", "write_network"),
    "files.policies": ("load_policy", "save_policy"),
    "files.problems": ("load_problem", "write_problem"),
    "lattice.explanations": ("explain",),
    "lattice.lattice": ("Lattice",),
    "learning.problems": ("learn_problem",),
    "model.acquisition": ("Constraint",),
    "model.costs": ("ConditionalCost", "Discount", "FeatureCosts", "Group"),
    "model.network": ("Network",),
    "model.problem": ("Problem",),
    "consultation.advice": ("advise",),
    "cases.application": ("apply_policy",),
    "policy.comparison": ("compare",),
    "policy.policy": ("Policy",),
    "cases.simulation": ("simulate",),
    "policy.solvers": ("build_policy",),
    "valuation.best_set": ("best_set",),
    "valuation.valuation": ("benefit", "cost", "emc", "evi", "value"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'voilattice' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"voilattice.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
