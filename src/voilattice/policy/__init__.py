"""What to acquire at each step, and when to stop: policies, their costs, and the optimum.

`policy` defines a policy and its cost (Equation 2). `relevance` finds what still matters,
`situations` is what a rule sees, `rules` are the paper's policies, and the package `optimal` finds
the best policy. All of them are solvers with one `interface`, by name in the registry `solvers`,
which `advice`, `application`, `simulation`, `comparison` and `threshold` use.
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
