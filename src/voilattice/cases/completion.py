"""Complete policies: they say what to do in every case, and no clock decides it.

The tree of a policy ends at its open leaves (`policy.policy`), where there was no time to work out
what the policy does, and in cases that lack a feature. A complete policy goes on there by work that
is counted:

    an open leaf        the greedy rule goes on. It acquires a feature only if its benefit is
                        positive, so the policy costs less than with the open leaves.
    a missing feature   `planner_around` plans again without the feature.

So whoever follows a complete policy does the same in the same case: now or later, alone or beside
other cases, from memory or from a file. `complete_policy` also writes into the tree what the greedy
rule does, as far as there is time. Following a tree is quicker than planning.
"""

from __future__ import annotations

from dataclasses import replace

from voilattice.budgets import Deadline, TimeLimit
from voilattice.cases.focus import MAX_STATES_OF_VARIANT, find_planner
from voilattice.optimal.exact.plain import count_states
from voilattice.policy.builder import PolicyBuilder
from voilattice.policy.interface import TIME_LIMIT, Solver
from voilattice.policy.policy import Acquisition, Leaf, Policy
from voilattice.policy.rules import greedy
from voilattice.policy.situation import Situation

__all__ = ["SUCCESSOR", "complete_policy", "planner_around"]

SUCCESSOR = "greedy"  # the policy that goes on at open leaves
QUICK = ("none", "markov-blanket", "greedy", "optimal")  # policies that take no time to plan again
MAX_REPLANNED = 20_000  # states; up to here, every policy is planned again
NOTE = "Where there was no time to work the policy out, the greedy policy goes on."


def complete_policy(policy: Policy, *, time_limit: TimeLimit = TIME_LIMIT) -> Policy:
    """Return the policy as a complete one, with the greedy rule in place of its open leaves.

    Parameters
    ----------
    time_limit
        Seconds, or a deadline. What the greedy rule does is written down until then. Where it has
        not come, a leaf stays open, and whoever follows the policy asks the greedy rule.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> cut = voilattice.build_policy(asia, "optimal", max_states=4)
    >>> done = complete_policy(cut)
    >>> [round(p.open_share, 2) for p in (cut, done)], done.name, done.exact
    ([0.11, 0.0], 'optimal', False)
    """
    if not policy.open_share:
        return policy.certify(policy.certificate, is_complete=True)
    problem = policy.problem

    def choose(situation: Situation) -> int:
        number = policy.locate(problem.further(situation.known))
        node = None if number is None else policy.nodes[number]
        if isinstance(node, Acquisition):
            return problem.feature_mask(node.features)
        is_decided = isinstance(node, Leaf) and not node.is_open
        return 0 if is_decided else greedy(situation)

    builder = PolicyBuilder(problem, deadline=Deadline.of(time_limit))
    built = builder.build(policy.name, choose)
    certificate = replace(policy.certificate, exact=False, note=NOTE)
    return built.certify(certificate, is_complete=True)


def planner_around(policy: Policy) -> Solver:
    """Return what plans for the cases of a complete policy in which features are missing.

    The optimum is planned again over the features that matter most (`cases.focus`), other policies
    of large problems by the greedy rule, because that is quick.
    """
    problem = policy.problem
    sizes = [len(problem.states(feature)) for feature in problem.features]
    is_quick = policy.name in QUICK or count_states(sizes) <= MAX_REPLANNED
    return find_planner(problem, policy.name if is_quick else SUCCESSOR, MAX_STATES_OF_VARIANT)
