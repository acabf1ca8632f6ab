"""Value of acquiring features: EMC, EVI and Benefit (paper, Section 2).

The expected misclassification cost (EMC) of a posterior is the risk of the best decision,

    EMC(e) = min_i sum_j P(y_j | e) c_ij                                        (Eq. 1)

the expected value of information (EVI) of a set S is the expected reduction of that risk,

    EVI(S | e) = EMC(e) - sum_s P(s | e) EMC(e, s)                              (Eqs. 3, 5)

and the benefit of S is its EVI minus its price,

    Benefit(S | e) = EVI(S | e) - C(S | e).                                     (Eqs. 4, 6)

All of them come from one table P(Y, S, e), computed by plain variable elimination. This module is
the reference that every faster engine is tested against.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from voilattice.html import html_table, paragraph
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.network import Table
from voilattice.model.problem import Evidence, Problem, check_problem, impossible
from voilattice.model.stakes import CostMatrix
from voilattice.wording import format_amount, in_currency

__all__ = ["Value", "benefit", "cost", "emc", "evi", "expected_emc", "posterior", "value"]


@dataclass(frozen=True, slots=True)
class Value:
    """What a set S of features is worth at evidence e, and what it costs."""

    features: frozenset[str]
    emc: float  # EMC(e)
    expected_emc: float  # sum_s P(s | e) EMC(e, s)
    evi: float
    cost: float
    benefit: float
    feasible: bool = True  # whether the constraints allow acquiring S at e
    within_limits: bool = True  # whether what is left of the limits allows it
    obstacles: tuple[str, ...] = ()  # why S cannot be acquired at e, and what would change that
    # Only for what people read: labels and the currency.
    problem: Problem | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of_set(
        cls,
        problem: Problem,
        chosen: int,
        known: Mapping[str, str],
        *,
        emc: float,
        evi: float,
        cost: float,
        expected_emc: float | None = None,
        left: PathLimits | None = None,
    ) -> Value:
        """Return amounts that are known already, with whether S can be acquired at e.

        `left` is what is left of the limits; by default all of them.
        """
        left = problem.limits if left is None else left
        n_features = chosen.bit_count()
        is_feasible = problem.feasibility.is_feasible(chosen, known)
        is_allowed = left.allows(cost, n_features)
        obstacles: list[str] = []
        if not (is_feasible and is_allowed):
            obstacles = problem.feasibility.obstacles(chosen, known)
            obstacles += left.obstacles(cost, n_features, problem.currency)
        return cls(
            problem.feature_names(chosen),
            emc,
            emc - evi if expected_emc is None else expected_emc,
            evi,
            cost,
            evi - cost,
            is_feasible,
            is_allowed,
            tuple(obstacles),
            problem,
        )

    def _repr_html_(self) -> str:
        label, currency = (self.problem.label, self.problem.currency) if self.problem else (str, "")
        names = ", ".join(sorted(map(label, self.features))) or "nothing"
        rows = (
            ("EMC now", self.emc),
            ("expected EMC after", self.expected_emc),
            ("EVI", self.evi),
            ("cost", self.cost),
            ("benefit", self.benefit),
        )
        return html_table(
            (f"acquire {names}", in_currency("", currency)),
            [(what, format_amount(amount)) for what, amount in rows],
        ) + "".join(map(paragraph, self.obstacles))


def value(
    problem: Problem,
    features: Iterable[str],
    evidence: Evidence | None = None,
) -> Value:
    """Return EMC, EVI, cost and benefit of acquiring `features` together.

    Parameters
    ----------
    evidence
        What is known in addition to the problem's own evidence.

    Raises
    ------
    TooLargeError
        The tables do not fit the memory budget (`budgets.memory_limit`).

    >>> import voilattice
    >>> p = voilattice.load_problem("figure1")
    >>> both = value(p, {"X1", "X2"})
    >>> round(both.emc, 9), round(both.evi, 9), both.cost, round(both.benefit, 9)
    (17.6, 5.4, 15.0, -9.6)
    """
    check_problem(problem)
    known = problem.merge_evidence(evidence)
    chosen = problem.check_acquirable(features, known)
    table = _table(problem, chosen, known)
    probability = float(table.sum())
    now = expected_emc(table.sum(axis=tuple(range(1, table.ndim))), problem.misclassification)
    then = expected_emc(table, problem.misclassification)
    # More information never raises the risk; a negative difference is only rounding.
    worth = max(now - then, 0.0) / probability
    price = price_set(problem.costs, chosen, known)
    return Value.of_set(
        problem,
        problem.feature_mask(chosen),
        known,
        emc=now / probability,
        expected_emc=then / probability,
        evi=worth,
        cost=price,
    )


def emc(problem: Problem, evidence: Evidence | None = None) -> float:
    """Return EMC(e): the expected cost of deciding now (Eq. 1)."""
    return value(problem, (), evidence).emc


def evi(problem: Problem, features: Iterable[str], evidence: Evidence | None = None) -> float:
    """Return EVI(S | e): how much knowing `features` reduces the expected cost (Eqs. 3, 5).

    >>> import voilattice
    >>> p = voilattice.load_problem("figure1")
    >>> [round(evi(p, s), 2) for s in ({"X1"}, {"X2"}, {"X1", "X2"})]  # together > the sum
    [1.2, 0.0, 5.4]
    """
    return value(problem, features, evidence).evi


def benefit(problem: Problem, features: Iterable[str], evidence: Evidence | None = None) -> float:
    """Return Benefit(S | e) = EVI(S | e) - C(S | e) (Eqs. 4, 6)."""
    return value(problem, features, evidence).benefit


def cost(problem: Problem, features: Iterable[str], evidence: Evidence | None = None) -> float:
    """Return C(S | e): what acquiring `features` together costs."""
    check_problem(problem)
    known = problem.merge_evidence(evidence)
    return price_set(problem.costs, problem.check_acquirable(features, known), known)


def posterior(problem: Problem, evidence: Evidence | None = None) -> dict[str, float]:
    """Return P(Y | e) by class."""
    table = _table(problem, frozenset(), problem.merge_evidence(evidence))
    return dict(zip(problem.classes, (table / table.sum()).tolist(), strict=True))


def expected_emc(joint: Table, cost: CostMatrix) -> float:
    """Return sum_s P(s) EMC(s) from the joint table P(Y, s), Y first."""
    risk = cost @ joint.reshape(cost.shape[1], -1)  # risk[i, s] = sum_j c_ij P(y_j, s)
    # Scaling by P(s) does not move the argmin, so the joint is never normalised:
    # an impossible s adds nothing and needs no special case.
    return float(risk.min(axis=0).sum())


def _table(problem: Problem, chosen: frozenset[str], known: Mapping[str, str]) -> Table:
    """Return P(Y, S, e) up to a power of two, which cancels in every ratio of entries."""
    names = [problem.target, *(name for name in problem.features if name in chosen)]
    table = scaled_joint_table(
        problem.network,
        [problem.network.index(name) for name in names],
        problem.node_states(known),
    ).table
    if not table.any():
        raise impossible(known)
    return table
