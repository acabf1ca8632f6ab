"""Complete policies: where the work on a policy stopped, the greedy rule goes on.

An open leaf (`policy.policy`) decides, because there was no time to work out what the policy does
there. The greedy rule is quick, and it acquires a feature only if its benefit is positive. So the
policy costs less with the rule in place of the open leaves. If there is no time for this either, a
leaf stays open.
"""

from __future__ import annotations

from dataclasses import replace

from voilattice.budgets import Deadline, TimeLimit
from voilattice.policy.interface import TIME_LIMIT
from voilattice.policy.policy import Acquisition, Leaf, Policy
from voilattice.policy.rules import greedy
from voilattice.policy.situations import PolicyBuilder, Situation

__all__ = ["complete_policy"]

NOTE = "Where there was no time to work the policy out, the greedy policy goes on."


def complete_policy(policy: Policy, *, time_limit: TimeLimit = TIME_LIMIT) -> Policy:
    """Return the policy with the greedy rule in place of its open leaves.

    Parameters
    ----------
    time_limit
        Seconds, or a deadline. Where the greedy rule has not come by then, a leaf stays open.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> cut = voilattice.build_policy(asia, "optimal", max_states=4)
    >>> done = complete_policy(cut)
    >>> [round(p.open_share, 2) for p in (cut, done)], done.name, done.exact
    ([0.11, 0.0], 'optimal', False)
    """
    if not policy.open_share:
        return policy
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
    note = f"{NOTE} {built.certificate.note}".strip()
    return built.certify(replace(policy.certificate, exact=False, note=note))
