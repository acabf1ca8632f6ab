"""What to acquire at each turn, and when to stop: policies, their costs, and the optimum.

`policy` is a policy and what it costs (Equation 2); `relevance` says what still matters,
`situations` what a rule sees, `rules` what the paper's policies do, and the room `optimal` what the
best policy does. `solvers` gives them one interface and a registry; `advice`, `application` and
`comparison` use it.
"""

from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.solvers import build_policy, policy_from_rule, policy_names, register

__all__ = [
    "Certificate",
    "Policy",
    "build_policy",
    "policy_from_rule",
    "policy_names",
    "register",
]
