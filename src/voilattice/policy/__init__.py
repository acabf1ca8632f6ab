"""What to acquire at each step, and when to stop: policies and their costs (paper, Section 3.4).

`policy` defines a policy and its cost (Equation 2), with a `certificate`. `relevance` finds what
still matters. A rule (`rules` are the paper's) sees a `situation`; `builder` builds its policy, the
most probable of the `open_states` first, and `sweep` keeps what points of a sweep share. All that
makes policies is a solver with one `interface`: `rule_solver` for rules, the room `optimal` for the
best policy, and anybody's own. `solvers` knows them by name; `comparison` puts them side by side.
"""

from voilattice.policy.certificate import Certificate
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import build_policy, policy_from_rule, policy_names, register

__all__ = [
    "Certificate",
    "Policy",
    "build_policy",
    "policy_from_rule",
    "policy_names",
    "register",
]
