"""Results as JSON documents, for scripts.

The command line prints these documents and the server sends them, so this is the one place that
defines their keys.
Features inside a set are sorted by name; floats are not rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voilattice.cases.application import Applied
from voilattice.consultation.advice import Advice
from voilattice.consultation.standing import Purchase, Standing
from voilattice.consultation.steps import FirstSteps
from voilattice.lattice.explanations import Explanation
from voilattice.lattice.lattice import Lattice
from voilattice.learning.held_out_results import Evaluation
from voilattice.model.network import Network
from voilattice.model.problem import Problem
from voilattice.policy.comparison import ComparisonRow, costs_above_best
from voilattice.policy.policy import Certificate, Policy
from voilattice.valuation.best_set import Best
from voilattice.valuation.lattice_levels import top_by_level, way_to_the_best
from voilattice.valuation.lattice_values import LatticeValues
from voilattice.valuation.valuation import Value, emc
from voilattice.what_if.advice_threshold import AdviceThreshold, Change
from voilattice.what_if.feature_use import Threshold

if TYPE_CHECKING:  # it loads scikit-learn
    from voilattice.arena.tables import Summary
    from voilattice.arena.tournament import Standings

__all__ = [
    "Document",
    "advice_document",
    "advice_threshold_document",
    "applied_document",
    "arena_document",
    "best_document",
    "case_documents",
    "comparison_document",
    "evaluation_document",
    "explanation_document",
    "first_steps_document",
    "lattice_document",
    "lattice_levels_document",
    "policy_document",
    "problem_document",
    "problem_entry",
    "set_document",
    "standing_document",
    "tables_document",
    "threshold_document",
    "value_document",
]

Document = dict[str, Any]

# `sets` is left out of the document of a lattice with more nodes.
MAX_SETS = 200_000


def problem_entry(name: str, problem: Problem) -> Document:
    """Return a problem as an entry of a list."""
    return {
        "name": name,
        "title": problem.title,
        "target": problem.target,
        "features": sorted(problem.features),
    }


def problem_document(problem: Problem, given: Mapping[str, str]) -> Document:
    """Return everything in a problem except its network."""
    document: Document = {
        "title": problem.title,
        "target": problem.target,
        "classes": list(problem.classes),
        "decisions": list(problem.decisions),
        "prior": dict(zip(problem.classes, problem.prior.tolist(), strict=True)),
        "features": sorted(problem.features),
        "states": {name: list(problem.states(name)) for name in problem.features},
        "bins": {name: list(cuts) for name, cuts in problem.bins.items()},
        "hidden": sorted(problem.hidden),
        "labels": dict(problem.labels),
        "state_labels": {name: dict(labels) for name, labels in problem.state_labels.items()},
        "currency": problem.currency,
        "misclassification": {
            decision: dict(zip(problem.classes, row, strict=True))
            for decision, row in zip(
                problem.decisions, problem.misclassification.tolist(), strict=True
            )
        },
        "evidence": problem.merge_evidence(given),
        "emc": emc(problem, given),
    }
    document |= problem.pricing.documents()
    document["constraints"] = [
        {
            "feature": c.feature,
            "after": list(c.after),
            "only_if": dict(c.only_if),
            "not_if": dict(c.not_if),
        }
        for c in problem.constraints
    ]
    document["limits"] = asdict(problem.limits)
    # All of these, in sentences.
    document["rules"] = [*problem.describe_rules(), *problem.pricing.sentences(problem)]
    return document


def tables_document(network: Network) -> list[Document]:
    """Return the probability tables of a network, a row for each combination of parents' states."""
    found = []
    for node, name in enumerate(network.names):
        parents = {network.names[k]: network.states[k] for k in network.parents[node]}
        table = network.tables[node]
        rows = [
            {
                "given": {p: of[v] for (p, of), v in zip(parents.items(), at, strict=True)},
                "probabilities": dict(zip(network.states[node], table[at].tolist(), strict=True)),
            }
            for at in np.ndindex(table.shape[:-1])
        ]
        found.append({"node": name, "parents": list(parents), "rows": rows})
    return found


def set_document(result: Value | Best) -> Document:
    """Return what a set is worth, as an entry of a list."""
    document: Document = {
        "features": sorted(result.features),
        "evi": result.evi,
        "cost": result.cost,
        "benefit": result.benefit,
        "feasible": result.feasible,
    }
    if isinstance(result, Value):
        document |= {"within_limits": result.within_limits, "obstacles": list(result.obstacles)}
    return document


def value_document(result: Value) -> Document:
    """Return what a set is worth, with the EMC before and after."""
    return set_document(result) | {"emc": result.emc, "expected_emc": result.expected_emc}


def lattice_document(lattice: Lattice, top: Sequence[Value] | None = None) -> Document:
    """Return a lattice, and the sets of highest benefit if they are given.

    A problem with constraints has the key `feasible`: whether each of `sets` can be acquired as it
    is; and `feasible_nodes`, the number of these.
    """
    document: Document = {"nodes": len(lattice), "subsets": lattice.n_subsets}
    if len(lattice) <= MAX_SETS:
        document["sets"] = [sorted(s) for s in lattice]
    document |= {
        "edges": lattice.n_edges,
        "roots": [sorted(s) for s in lattice.roots],
        "largest": len(lattice.level_sizes) - 1,
        "markov_blanket": sorted(lattice.acquirable_core),
        "levels": list(lattice.level_sizes),
    }
    if lattice.problem.constraints and lattice.feasible is not None:
        if len(lattice) <= MAX_SETS:
            document["feasible"] = lattice.feasible.tolist()
        document["feasible_nodes"] = int(lattice.feasible.sum())
    if top is not None:
        document["values"] = [set_document(entry) for entry in top]
    return document


def lattice_levels_document(
    lattice: Lattice,
    values: LatticeValues | None,
    *,
    top: int,
    containing: Collection[str] = (),
) -> Document:
    """Return the best sets of each level, and the set of highest benefit.

    Without values, `best` is null and a level shows its first sets, whose amounts are null.
    """
    if values is not None:
        best, way = values.top(1)[0], set(way_to_the_best(values))
        levels = top_by_level(values, top, containing, with_way=not containing)
        return {
            "best": set_document(best),
            "rows": [
                {
                    "size": level.size,
                    "count": level.count,
                    "sets": [
                        set_document(v)
                        | {"best": v.features == best.features, "on_way": v.features in way}
                        for v in level.sets
                    ],
                }
                for level in levels
            ],
        }
    wanted, feasible = set(containing), lattice.feasible
    lattice.problem.feature_mask(wanted)  # checks that they are features
    rows: list[Document] = []
    numbers = iter(range(len(lattice)))
    for size in range(len(lattice.level_sizes)):
        found = [(next(numbers), s) for s in lattice.level(size)]
        found = [(number, s) for number, s in found if wanted <= s]
        sets = [
            {
                "features": sorted(s),
                "evi": None,
                "cost": None,
                "benefit": None,
                "feasible": None if feasible is None else bool(feasible[number]),
                "best": False,
                "on_way": False,
            }
            for number, s in found[:top]
        ]
        rows += [{"size": size, "count": len(found), "sets": sets}] if found else []
    return {"best": None, "rows": rows}


def best_document(found: Best) -> Document:
    """Return the set of highest benefit."""
    return set_document(found) | {
        "optimal": found.exact,
        "bound": found.bound,
        "evaluated": found.n_evaluated,
        "sets": found.n_sets,
        "short_of": found.short_of,
    }


def explanation_document(explanation: Explanation) -> Document:
    """Return why a set is, or is not, in the lattice."""
    return {
        "features": sorted(explanation.features),
        "irreducible": explanation.irreducible,
        "core": sorted(explanation.core),
        "members": [
            {
                "feature": member.feature,
                "depends": member.depends,
                "constraint": None if member.constraint is None else str(member.constraint),
                "reason": explanation.reason(member),
            }
            for member in explanation.members
        ],
        "completions": [sorted(added) for added in explanation.completions],
        "feasible": explanation.feasible,
        "obstacles": list(explanation.obstacles),
        "closure": sorted(explanation.closure),
    }


def advice_document(advice: Advice) -> Document:
    """Return what to do now."""
    ahead = advice.target_set
    return {
        "action": advice.action,
        "features": sorted(advice.features),
        "target_set": None if ahead is None else sorted(ahead),
        "decision": advice.decision,
        "decision_costs": advice.decision_costs,
        "posterior": advice.posterior,
        "emc": advice.emc,
        "spent": advice.spent,
        "bill": _bill_document(advice.bill),
        "left": asdict(advice.left),
        "benefit": advice.benefit,
        "candidates": [set_document(candidate) for candidate in advice.candidates],
        "barred": [set_document(candidate) for candidate in advice.barred],
        "ignored": [asdict(entry) for entry in advice.ignored],
        "reasons": list(advice.reasons),
        "fallback": advice.fallback,
        "quick": advice.fallback is not None,  # greedy answered in place of what was asked
        **_certificate_document(advice.certificate),
    }


def standing_document(standing: Standing) -> Document:
    """Return where a consultation stands."""
    return {
        "posterior": standing.posterior,
        "emc": standing.emc,
        "decision": standing.decision,
        "decision_costs": standing.decision_costs,
        "spent": standing.spent,
        "left": asdict(standing.left),
        "costs": standing.costs,
        "bill": _bill_document(standing.bill),
        "obstacles": {f: list(said) for f, said in standing.obstacles.items()},
    }


def _bill_document(bill: Iterable[Purchase]) -> list[Document]:
    return [
        {
            "features": list(purchase.features),
            "results": dict(purchase.results),
            "cost": purchase.cost,
            "items": [{"what": what, "amount": amount} for what, amount in purchase.items],
        }
        for purchase in bill
    ]


def first_steps_document(found: FirstSteps) -> Document:
    """Return what it costs to begin with each feature."""
    return {
        "decide": found.decide,
        "chosen": sorted(found.chosen),
        "exact": found.exact,
        "steps": [
            {
                "features": sorted(step.features),
                "cost": step.cost,
                "cost_to_go": step.cost_to_go,
                "lower_bound": step.lower_bound,
                "over": step.over,
                "outcomes": [
                    {
                        "result": dict(outcome.result),
                        "probability": outcome.probability,
                        "emc": outcome.emc,
                        "cost_to_go": outcome.cost_to_go,
                        "then": {
                            "action": "decide" if outcome.decision is not None else "acquire",
                            "features": sorted(outcome.then),
                            "decision": outcome.decision,
                        },
                    }
                    for outcome in step.outcomes
                ],
                "text": step.text,
            }
            for step in found.steps
        ],
    }


def applied_document(applied: Applied, status: str = "ok") -> Document:
    """Return what a policy bought, decided and paid on average, in a table of cases.

    `status` is that of the policy.
    """
    return {
        "status": "time" if applied.unfinished.any() else status,
        "rows": len(applied.decision),
        "mean_feature_cost": _mean(applied.feature_cost),
        "mean_misclassification_cost": _mean(applied.misclassification_cost),
        "mean_total_cost": _mean(applied.total_cost),
        "accuracy": applied.accuracy,
        "mean_features": _mean(np.array([len(bought) for bought in applied.bought.tolist()])),
        "replanned": int(applied.replanned.sum()),
        "impossible": int(applied.impossible.sum()),
        "unfinished": int(applied.unfinished.sum()),
        "unseen": {column: dict(values) for column, values in applied.unseen.items()},
    }


def case_documents(applied: Applied) -> list[Document]:
    """Return what a policy bought, decided and paid, case by case."""
    unknown = [None] * len(applied.decision)
    mistakes, totals = applied.misclassification_cost, applied.total_cost
    columns = {
        "decision": applied.decision.tolist(),
        "bought": [list(path) for path in applied.bought.tolist()],
        "feature_cost": applied.feature_cost.tolist(),
        "misclassification_cost": unknown if mistakes is None else mistakes.tolist(),
        "total_cost": unknown if totals is None else totals.tolist(),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def evaluation_document(found: Evaluation) -> Document:
    """Return what methods cost on new cases, the lowest first."""
    return {"rows": len(found.rows), "folds": found.n_folds, "target": found.target} | {
        "results": [
            {
                "method": result.method,
                "recipe": result.recipe,
                "policy": result.policy,
                "mean_total_cost": result.mean_total_cost,
                "standard_error": result.standard_error,
                "mean_feature_cost": result.mean_feature_cost,
                "mean_misclassification_cost": result.mean_misclassification_cost,
                "accuracy": result.accuracy,
                "seconds": result.seconds,
                "difference": above.mean,
                "difference_standard_error": above.standard_error,
                "p_value": above.p_value,
                "mean_expected_cost": result.mean_expected_cost,
                "chosen": list(result.chosen),
                "unfinished": result.n_unfinished,
                "calibration": [
                    {"predicted": b.predicted, "observed": b.observed, "count": b.count}
                    for b in result.calibration
                ],
            }
            for result in found.results
            for above in [found.difference(result)]
        ]
    }


def arena_document(found: Standings, summaries: Sequence[Summary]) -> Document:
    """Return how methods stand, the lowest mean rank first, and what failed."""
    return {
        "wanted": found.n_wanted,
        "results": len(found.results),
        "splits": found.suite.n_splits,
        "data_sets": {name: list(data.levels) for name, data in found.suite.data_sets.items()},
        "methods": [asdict(summary) for summary in summaries],
        "failures": [
            {**asdict(key), "failure": failure.failure} for key, failure in found.failures.items()
        ],
    }


def _mean(values: NDArray[Any] | None) -> float | None:
    return None if values is None or not len(values) else float(values.mean())


def policy_document(policy: Policy, now: float) -> Document:
    """Return what a policy costs, compared with deciding now, and its certificate."""
    return {
        "policy": policy.name,
        "expected_total_cost": policy.expected_total_cost,
        "expected_feature_cost": policy.expected_feature_cost,
        "expected_misclassification_cost": policy.expected_misclassification_cost,
        "expected_features": policy.expected_features,
        "expected_rounds": policy.expected_rounds,
        "nodes": policy.n_acquisitions,
        "paths": policy.n_paths,
        "depth": policy.depth,
        "states": len(policy.nodes),
        "no_acquisition_cost": now,
        "savings": now - policy.expected_total_cost,
        **_certificate_document(policy.certificate),
        "open_share": policy.open_share,
        "verdict": policy.verdict,
    }


def _certificate_document(certificate: Certificate) -> Document:
    return {
        "lower_bound": certificate.lower_bound,
        "exact": certificate.exact,
        "status": certificate.status,
        "note": certificate.note,
    }


def comparison_document(rows: Sequence[ComparisonRow]) -> list[Document]:
    """Return what policies cost, point by point, and how much more than the cheapest there."""
    return [
        {
            "kind": row.kind,
            "expected": row.expected,
            "policy": row.policy,
            "expected_total_cost": row.expected_total_cost,
            "at_least": row.at_least,
            "at_most": row.at_most,
            "savings": row.savings,
            "above_best": above,
            **_certificate_document(row.certificate),
            "settings": dict(row.settings),
            "first": None if row.first is None else sorted(row.first),
            "uses": row.uses,
        }
        for row, above in zip(rows, costs_above_best(rows), strict=True)
    ]


def threshold_document(found: Threshold) -> Document:
    """Return from which price, and from which stakes, a feature is used."""
    prices, stakes = found.prices, found.stakes
    return {
        "feature": found.feature,
        "price": found.price,
        "price_threshold": prices.threshold,
        "stake": found.stake,
        "stake_threshold": stakes.threshold,
        "exact": found.exact,
        "used": found.is_used,
        "price_use": prices.verdict,
        "price_at_least": prices.bracket[0],
        "price_at_most": prices.bracket[1],
        "least_price": prices.least,
        "stake_at_most": stakes.at_most,
        "stake_end": stakes.end,
        "stake_ranges": [list(r) for r in stakes.ranges],
        "stake_limit": stakes.limit,
        "cost_without": prices.without,
        "price_curve": [list(point) for point in prices.curve],
        "stake_curve": [list(point) for point in stakes.curve],
        "stake_curve_without": [list(point) for point in stakes.without],
        "text": str(found),
    }


def advice_threshold_document(found: AdviceThreshold) -> Document:
    """Return where the first step changes, and to what."""

    def change(entry: Change | None) -> Document | None:
        return None if entry is None else {"at": entry.at, "first": sorted(entry.first)}

    return {
        "along": found.along,
        "feature": found.feature,
        "now": found.now,
        "stake": found.stake,
        "first": sorted(found.first),
        "below": change(found.below),
        "above": change(found.above),
        "low": found.low,
        "high": found.high,
        "exact": found.exact,
        "text": found.text,
    }
