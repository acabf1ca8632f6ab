"""Many cases: the commands `apply`, `learn`, `evaluate`, `arena` and `reproduce`."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from voilattice.documents.declaration import Document, Json, Source, key

if TYPE_CHECKING:
    from voilattice.cases.application import Applied as AppliedResult
    from voilattice.learning.held_out_results import Evaluation as EvaluationResult

__all__ = [
    "Applied",
    "AppliedCase",
    "Arena",
    "Evaluation",
    "Learned",
    "Reproduction",
    "applied_cases",
]


def _mean_of(name: str) -> Source:
    """Return the mean of an array of the result; None: there is no array, or no row in it."""

    def mean(applied: AppliedResult) -> float | None:
        values = getattr(applied, name)
        return None if values is None or not len(values) else float(values.mean())

    return mean


def _mean_features(applied: AppliedResult) -> float | None:
    n_bought = [len(path) for path in applied.bought.tolist()]
    return sum(n_bought) / len(n_bought) if n_bought else None


class Applied(Document):
    """What a policy bought, decided and paid in a table of cases."""

    status: str = key(
        "ok, or the limit that stopped the work on the policy, if anything was lost by that: time "
        "or memory.",
        lambda applied: "time" if applied.unfinished.any() else "ok",
    )
    rows: int = key("How many cases there are.", lambda applied: len(applied.decision))
    mean_feature_cost: float | None = key(
        "What was spent on features, on average.", _mean_of("feature_cost")
    )
    mean_misclassification_cost: float | None = key(
        "What decisions cost on average; null: the true class is not known.",
        _mean_of("misclassification_cost"),
    )
    mean_total_cost: float | None = key(
        "Both together; null: the true class is not known.", _mean_of("total_cost")
    )
    accuracy: float | None = key(
        "The share of decisions that are the true class; null: it is not known, or no decision is "
        "a class."
    )
    mean_features: float | None = key("How many features were acquired on average.", _mean_features)
    replanned: int = key(
        "Rows in which a feature was missing, so that the policy was planned again.",
        lambda applied: int(applied.replanned.sum()),
    )
    impossible: int = key(
        "Rows in which a result had probability 0 and was taken as missing.",
        lambda applied: int(applied.impossible.sum()),
    )
    unfinished: int = key(
        "Rows in which the greedy policy went on, because the time was over.",
        lambda applied: int(applied.unfinished.sum()),
    )
    unseen: dict[str, dict[str, int]] = key(
        "Values that are no state of the network, by column, and how often they occur."
    )


class AppliedCase(Document):
    """What a policy bought, decided and paid in a case; null: the true class is not known."""

    decision: str = key("What was decided.", itemgetter(0))
    bought: list[str] = key("What was acquired, in this order.", itemgetter(1))
    feature_cost: float = key("What that cost.", itemgetter(2))
    misclassification_cost: float | None = key(
        "What the decision cost; null: the true class is not known.", itemgetter(3)
    )
    total_cost: float | None = key(
        "Both together; null: the true class is not known.", itemgetter(4)
    )


def applied_cases(applied: AppliedResult) -> Iterator[tuple[Any, ...]]:
    """Return what `AppliedCase` is made of, for each case."""
    unknown = [None] * len(applied.decision)
    columns = (
        applied.decision, applied.bought, applied.feature_cost, applied.misclassification_cost,
        applied.total_cost,
    )  # fmt: skip
    return zip(*(unknown if c is None else c.tolist() for c in columns), strict=True)


class Trial(Document):
    """A recipe that was tried."""

    recipe: str = key("The recipe.", "name")
    mean_total_cost: float = key("Features and decisions, on rows that it did not learn from.")
    standard_error: float = key("Of this mean.")


class Learned(Document):
    """A problem that was learned from a table."""

    problem: str = key("The problem file.")
    rows: int = key("How many rows were learned from.", "learned.n_rows")
    left_out: int = key("Rows without a class.", "learned.n_left_out")
    target: str = key("The column to predict.", "problem.target")
    features: list[str] = key("The columns that became features.", "problem.features")
    arcs: int = key("How many arcs the network has.", "learned.network.n_arcs")
    columns_left_out: list[str] = key("Columns that did not become features.", "learned.left_out")
    leaks: list[str] = key(
        "Columns that alone determine the target: perhaps they are known only afterwards.",
        "learned.leaks",
    )
    recipe: str | None = key(
        "The recipe, chosen or asked for, in words if --bins changed it; null: the options made "
        "one."
    )
    trials: list[Trial] = key(
        "What was tried, with the recipe auto.",
        lambda found: () if found.choice is None else found.choice.trials,
    )


class CalibrationBin(Document):
    """Rows in which the decided class was about as probable."""

    predicted: float = key("The mean probability of the decided class.")
    observed: float = key("The share of the rows in which it was the true class.")
    count: int = key("How many rows these are.")


class HeldOutResult(Document):
    """What a method cost on rows that it did not learn from."""

    method: str = key("Its name.")
    recipe: str | None = key("How its network was learned; null: it has none.")
    policy: str | None = key("Which policy it follows; null: none.")
    mean_total_cost: float = key("Features and decisions, on rows that it did not learn from.")
    standard_error: float | None = key("Of this mean; null: there is one row.")
    mean_feature_cost: float = key("The part spent on features.")
    mean_misclassification_cost: float = key("The part that decisions cost.")
    accuracy: float | None = key(
        "The share of decisions that are the true class; null: no decision is a class."
    )
    seconds: float = key("To learn and to decide.")
    difference: float = key("What it costs more than the first method.")
    difference_standard_error: float | None = key("Of this difference; null: there is one row.")
    p_value: float | None = key("Of the paired t-test; null: there is one row.")
    mean_expected_cost: float = key("What the method itself expected.")
    chosen: list[str] = key("The recipe that auto chose in each fold.")
    unfinished: int = key(
        "Rows in which the greedy policy went on, because the time was over.", "n_unfinished"
    )
    calibration: list[CalibrationBin] = key("How often decisions are right, by how sure.")


def _results(evaluation: EvaluationResult) -> Iterator[Json]:
    for result in evaluation.results:
        above = evaluation.difference(result)
        yield HeldOutResult.json_of(
            result, difference=above.mean, difference_standard_error=above.standard_error,
            p_value=above.p_value,
        )  # fmt: skip


class Evaluation(Document):
    """What methods cost on new cases."""

    rows: int = key("How many rows have a class.", lambda evaluation: len(evaluation.rows))
    folds: int = key("In how many parts they were dealt.", "n_folds")
    target: str = key("The column to predict.")
    results: list[HeldOutResult] = key("Each method, the lowest mean total cost first.", _results)


class ArenaMethod(Document):
    """How a method stands in the arena; docs/arena.md defines the means."""

    method: str = key("Its name.")
    mean_rank: float = key("Over the cells; 1 is the lowest cost.")
    normalized: float = key("The mean normalized cost.")
    spending: float = key("The share of features in the total cost.")
    errors: float = key("The share of decisions that are not the true class.")
    n_won: int = key("Cells in which no method costs less.")
    regret: float = key("The normalized cost above that of the best method of the same cell.")
    model_regret: float | None = key(
        "What a quick policy costs more than the optimum in its own network; null: not told."
    )
    seconds: float = key("To learn and to decide, for one split of a cell.")


class ArenaFailure(Document):
    """Where a method failed, and why."""

    data_set: str = key("The data set.")
    level: str = key("The level of its costs.")
    split: int = key("Which split.")
    method: str = key("The method.")
    failure: str = key("Why it failed.")


class Arena(Document):
    """How methods stand, and what failed."""

    wanted: int = key("How many results the suite asks for.", "n_wanted")
    results: int = key("How many there are.", lambda standings: len(standings.results))
    splits: int = key("How often each data set is split.", "suite.n_splits")
    data_sets: dict[str, list[str]] = key(
        "The levels of each data set.",
        lambda standings: {name: data.levels for name, data in standings.suite.data_sets.items()},
    )
    methods: list[ArenaMethod] = key("Each ranked method, the lowest mean rank first.")
    failures: list[ArenaFailure] = key(
        "What failed.",
        lambda standings: [
            ArenaFailure.json_of(where, failure=failure.failure)
            for where, failure in standings.failures.items()
        ],
    )


class ClaimChecked(Document):
    """What became of a claim of the paper."""

    claim: str = key("What the paper says.", "text")
    verdict: str = key("Whether it holds here.")
    holds: int = key("In how many cases it holds.", "n_holding")
    of: int = key("How many cases there are.", lambda claim: len(claim.cases))


class Reproduction(Document):
    """What was reproduced of the paper."""

    files: list[str] = key("What was written.")
    claims: list[ClaimChecked] = key("The claims of the paper.")
