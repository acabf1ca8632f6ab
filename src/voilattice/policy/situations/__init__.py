"""Situations: what a rule sees at some evidence, and how a policy continues from there.

`situation` is one situation, with all that a rule can ask about it. `policy_builder` builds the
policy of a rule, situation by situation.
"""

from voilattice.policy.situations.policy_builder import (
    MAX_POLICY_STATES,
    BuildProgress,
    PolicyBuilder,
)
from voilattice.policy.situations.situation import (
    LAZY_CELLS,
    SEARCHED_CELLS,
    Situation,
    situation_at,
)

__all__ = [
    "LAZY_CELLS",
    "MAX_POLICY_STATES",
    "SEARCHED_CELLS",
    "BuildProgress",
    "PolicyBuilder",
    "Situation",
    "situation_at",
]
