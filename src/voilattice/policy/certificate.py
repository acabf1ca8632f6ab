"""What is known about a policy besides its cost: a bound, a proof, what ended the work.

With V the least expected total cost over all policies and L a lower bound, L <= V <= ETC(π). A
policy of cost ETC(π) therefore costs at most ETC(π) - L too much, and nothing if the two meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from voilattice.errors import InputError, within
from voilattice.model.costs import check_amount
from voilattice.wording import quote

__all__ = ["STATUSES", "Certificate"]

STATUSES = ("ok", "time", "memory")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a solver knows about a policy besides its cost."""

    lower_bound: float | None = None  # no policy costs less than this; None: not computed
    exact: bool = True  # the policy is what its name says; `optimal`: proved to cost least
    status: str = "ok"  # "time" or "memory": the limit that stopped the work early
    note: str = ""  # where a bound comes from, or what was not done, in sentences

    def __post_init__(self) -> None:
        if self.lower_bound is not None:
            with within("lower_bound"):
                check_amount(self.lower_bound)
        if self.status not in STATUSES:
            known = ", ".join(map(repr, STATUSES))
            raise InputError(f"must be one of {known}, got {quote(self.status)}", "status")
