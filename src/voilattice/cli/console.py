"""How results look for people (`terminal` prints them), and JSON for programs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from voilattice.cases.application import Applied
from voilattice.cli.terminal import console, print_table, table
from voilattice.documents.tables import Applied as AppliedDocument
from voilattice.lattice.explanations import Explanation
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Problem
from voilattice.policy.comparison import ComparisonRow, costs_above_best
from voilattice.policy.policy import Policy, describe_excess
from voilattice.ties import TOLERANCE, tolerance
from voilattice.valuation.best_set import Best
from voilattice.valuation.valuation import Value, emc
from voilattice.what_if.feature_use import Threshold
from voilattice.wording import count_noun, format_amount, format_mean, in_currency

if TYPE_CHECKING:
    from rich.table import Table

    from voilattice.learning.held_out_results import Evaluation
    from voilattice.paper.claims import Claim

__all__ = [
    "MAX_LISTED",
    "feature_names",
    "findings",
    "print_applied",
    "print_best",
    "print_claims",
    "print_comparison",
    "print_evaluation",
    "print_explanation",
    "print_json",
    "print_lattice",
    "print_policy",
    "print_problem",
    "print_start_of_limits",
    "print_threshold",
    "print_value",
    "table_of_values",
]

MAX_LISTED = 12


def list_some(names: Iterable[str]) -> str:
    """Return names with commas, and how many more there are where there are many."""
    every = list(names)
    more = len(every) - MAX_LISTED
    return ", ".join(every[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, allow_nan=False))


def print_problem(problem: Problem, given: Mapping[str, str]) -> None:
    """Print what a problem holds."""
    network, now, prior = problem.network, emc(problem, given), problem.prior
    pricing = problem.pricing
    out, currency, label = console(), problem.currency, problem.label
    out.print(problem.title or "Untitled problem", style="bold")
    out.print(
        f"A network of {count_noun(len(network), 'node')} and {count_noun(network.n_arcs, 'arc')}: "
        f"the target, {count_noun(len(problem.features), 'feature')}, {len(problem.hidden)} hidden"
        + (f" ({list_some(map(label, problem.hidden))})." if problem.hidden else ".")
    )
    if known := problem.merge_evidence(given):
        out.print(f"Known: {findings(problem, known.items(), ', ')}")
    out.print(f"Deciding now costs {format_amount(now, currency)} on average (EMC).\n")

    features = table("feature", "states", f">{in_currency('price', currency)}", "group")
    for name in problem.features:
        states = ", ".join(problem.state_and_label(name, state) for state in problem.states(name))
        price = format_amount(pricing.prices[name])
        sharing = pricing.describe_sharing(name)
        features.add_row(problem.name_and_label(name), states, price, sharing)
    print_table(features)
    if problem.bins:
        bins = (
            f"{label(name)} (cut at {', '.join(map(str, cuts))})"
            for name, cuts in problem.bins.items()
        )
        out.print(f"Numbers are evidence too for {', '.join(bins)}.")
    for line in (*pricing.sentences(problem), *problem.describe_rules()):
        out.print(line)
    out.print()

    classes = [problem.state_and_label(problem.target, state) for state in problem.classes]
    target = problem.name_and_label(problem.target)
    stakes = table(target, *(f">if {actual}" for actual in classes))
    stakes.add_row("prior probability", *(f"{probability:.4g}" for probability in prior))
    for decision, row in zip(problem.decisions, problem.misclassification, strict=True):
        said = problem.state_label(problem.target, decision)
        deciding = in_currency(f"cost of deciding {said}", currency)
        stakes.add_row(deciding, *map(format_amount, row))
    print_table(stakes)


def findings(problem: Problem, known: Iterable[tuple[str, str]], between: str) -> str:
    """Return what is known, as people read it."""
    return between.join(f"{problem.label(f)} = {problem.state_label(f, s)}" for f, s in known)


def feature_names(problem: Problem, features: Iterable[str]) -> str:
    """Return what people read for some features, sorted."""
    return ", ".join(sorted(map(problem.label, features)))


def print_value(problem: Problem, result: Value) -> None:
    """Print what a set is worth."""
    out, currency, names = console(), problem.currency, feature_names(problem, result.features)
    rows = table(f"acquire {names or 'nothing'}", f">{in_currency('', currency)}")
    rows.add_row("EMC now", format_amount(result.emc))
    rows.add_row("expected EMC after", format_amount(result.expected_emc))
    rows.add_row("EVI", format_amount(result.evi))
    rows.add_row("cost", format_amount(result.cost))
    rows.add_row("benefit", format_amount(result.benefit), style="bold")
    print_table(rows)
    if names:
        pays = "it pays" if result.benefit > tolerance(result.emc) else "it does not pay"
        out.print(
            f"\nKnowing {names} takes {format_amount(result.evi, currency)} off the expected cost "
            f"of deciding and costs {format_amount(result.cost, currency)}: {pays}."
        )
    if result.obstacles:
        out.print(f"It is {_barrier(result)}: {' '.join(result.obstacles)}")


def _barrier(result: Value) -> str:
    """Return, in words, what keeps a set from being acquired; empty: nothing."""
    said = [] if result.feasible else ["not feasible"]
    said += [] if result.within_limits else ["beyond the limits"]
    return " and ".join(said)


def print_best(problem: Problem, found: Best) -> None:
    """Print the set of highest benefit, and how sure that is."""
    out, currency, names = console(), problem.currency, feature_names(problem, found.features)
    rows = table(f"best set: {names or 'none, decide now'}", ">")
    rows.add_row(in_currency("EVI", currency), format_amount(found.evi))
    rows.add_row(in_currency("cost", currency), format_amount(found.cost))
    rows.add_row(in_currency("benefit", currency), format_amount(found.benefit), style="bold")
    rows.add_row("sets valued", f"{found.n_evaluated:,}")
    if found.n_sets is not None:
        rows.add_row("irreducible sets", f"{found.n_sets:,}")
    print_table(rows)
    if found.exact:
        sets = (
            "set that can be acquired"
            if problem.constraints or problem.limits
            else "set of features"
        )
        out.print(f"\nNo {sets} has a higher benefit.")
    else:
        why = {
            "time": "Time is up (--time-limit)",
            "memory": "Some sets do not fit the memory budget (--memory)",
            "costs": "There are too many sets to check with prices of your own",
        }[found.short_of or "time"]
        bound = format_amount(found.bound, currency)
        out.print(f"\n{why}. This is the best set found; no set has a benefit above {bound}.")


def table_of_values(problem: Problem, heading: str, values: Sequence[Value]) -> Table:
    """Return a table of what sets are worth."""
    amounts = (f">{in_currency(name, problem.currency)}" for name in ("EVI", "cost", "benefit"))
    rows = table(heading, *amounts)
    for entry in values:
        barrier = f" ({_barrier(entry)})" if entry.obstacles else ""
        rows.add_row(
            (feature_names(problem, entry.features) or "∅ (decide now)") + barrier,
            *map(format_amount, (entry.evi, entry.cost, entry.benefit)),
        )
    return rows


def print_applied(
    problem: Problem, applied: Applied, name: str, absent: Sequence[str] = ()
) -> None:
    """Print what a policy costs on average in a table of cases; `absent` has no column there."""
    means, currency = AppliedDocument.json_of(applied), problem.currency
    rows = table(f"policy {name}, means of {count_noun(means['rows'], 'row')}", ">")
    rows.add_row(
        in_currency("spent on features", currency), format_amount(means["mean_feature_cost"])
    )
    if applied.truth is not None:
        rows.add_row(
            in_currency("cost of decisions", currency),
            format_amount(means["mean_misclassification_cost"]),
        )
        total = format_mean(means["mean_total_cost"], applied.standard_error)
        rows.add_row(in_currency("total cost", currency), total, style="bold")
    if means["accuracy"] is not None:
        rows.add_row("decided on the true class", f"{means['accuracy']:.1%}")
    rows.add_row("features bought", f"{means['mean_features']:.2f}")
    print_table(rows)
    console().print()
    decisions = Counter(applied.decision.tolist())
    counts = table("decision", ">rows")
    for decision, n in sorted(decisions.items()):
        counts.add_row(problem.state_label(problem.target, decision), f"{n:,}")
    print_table(counts)
    if means["replanned"]:
        again = count_noun(means["replanned"], "row")
        console().print(f"\nPlanned again because a feature was missing: {again}.")
    if means["unfinished"]:
        late = count_noun(means["unfinished"], "row")
        console().print(f"\nThe greedy policy went on because the time was over: {late}.")
    if absent:
        console().print(f"\nThe table has no column for {', '.join(absent)}.")


def print_policy(policy: Policy, now: float) -> None:
    """Print what a policy costs, beside deciding at once, and its certificate."""
    out = console()
    rows = table(f"policy {policy.name}", ">")
    total = policy.expected_total_cost
    for what, amount, style in (
        ("spent on features", policy.expected_feature_cost, None),
        ("cost of decisions", policy.expected_misclassification_cost, None),
        ("expected total cost", total, "bold"),
        ("deciding at once", now, None),
        ("savings", now - total, None),
    ):
        heading = in_currency(what, policy.problem.currency)
        rows.add_row(heading, format_amount(amount), style=style)
    rows.add_row("features bought, on average", f"{policy.expected_features:.2f}")
    if policy.problem.counts_rounds:
        each = policy.problem.round_cost
        price = f", at {format_amount(each, policy.problem.currency)} each" if each else ""
        rows.add_row(f"rounds, on average{price}", f"{policy.expected_rounds:.2f}")
    rows.add_row("acquisitions in the tree", f"{policy.n_acquisitions:,}")
    rows.add_row("paths", f"{policy.n_paths:,}")
    rows.add_row("depth", f"{policy.depth:,}")
    rows.add_row("different states", f"{len(policy.nodes):,}")
    print_table(rows)
    if policy.verdict:
        out.print(f"\n{policy.verdict}")


def print_comparison(rows: Sequence[ComparisonRow], currency: str = "") -> None:
    """Print what policies cost, a row for each point of a sweep; the cheapest is marked."""
    out = console()
    if len({row.point for row in rows}) == 1:
        _print_point(rows, currency)
        _print_settings(rows)
        return
    policies = list(dict.fromkeys(row.policy for row in rows))
    names = [f">{name.replace('-', '-' + chr(10))}" for name in policies]
    for kind in dict.fromkeys(row.kind for row in rows):
        here = [row for row in rows if row.kind == kind]
        keys = [key for key, values in _values_of(here).items() if len(values) > 1]
        told = any(row.first is not None for row in here)
        asked = any(row.uses is not None for row in here)
        stakes = in_currency(f"{kind} EMC", currency)
        heading = [f">{_describe_key(key)}" for key in keys] or [stakes]
        uses = [f"uses {key[6:]}" for key in keys if key.startswith("costs.")] * asked
        points = table(*heading, *names, *["buys first"] * told, *uses)
        for point in dict.fromkeys(row.point for row in here):
            rows_here = [row for row in here if row.point == point]
            least = _least(rows_here)
            cells = [
                row.cost_text + ("~" * (not row.exact) + "*" * (above <= tolerance(least)) or " ")
                for row, above in zip(rows_here, _above(rows_here), strict=True)
            ]
            values = [f"{value:,g}" for key, value in rows_here[0].settings if key in keys]
            firsts = [
                ", ".join(sorted(row.first)) or "-" for row in rows_here if row.first is not None
            ]
            used = ["yes" if row.uses else "no" for row in rows_here if row.uses is not None]
            points.add_row(
                *(values or [format_amount(rows_here[0].expected)]), *cells,
                *(firsts or ["?"]) * told, *(used or ["?"]) * asked,
            )  # fmt: skip
        print_table(points)
        out.print()
    doubt = "" if all(row.exact for row in rows) else "; ~ was not finished or not proved in time"
    costs = in_currency("Expected total costs", currency)
    out.print(f"{costs}; * marks the lowest{doubt}.")
    if any(row.first is not None for row in rows):
        words = '"buys first": what the optimal policy acquires first.'
        if any(row.uses is not None for row in rows):
            words = '"buys first", "uses": what the optimal policy does.'
        out.print(f'{words} "-": it decides at once.')
    _print_settings(rows)


def _print_settings(rows: Sequence[ComparisonRow]) -> None:
    """Print which numbers of the file were changed and are the same in all rows."""
    same = [f"{key} = {min(v):,g}" for key, v in _values_of(rows).items() if len(v) == 1]
    if same:
        console().print(f"Changed: {', '.join(same)}.")


def _values_of(rows: Sequence[ComparisonRow]) -> dict[str, set[float]]:
    """Return all values of each setting."""
    found: dict[str, set[float]] = {}
    for row in rows:
        for key, value in row.settings:
            found.setdefault(key, set()).add(value)
    return found


def _describe_key(key: str) -> str:
    """Return the heading of a setting; it can be broken into lines."""
    return f"price of {key[6:]}" if key.startswith("costs.") else key.replace(".", ".\n")


def print_start_of_limits(problem: Problem, given: Mapping[str, str]) -> None:
    """Print that evidence uses up nothing of the limits, where that matters."""
    if problem.limits and given:
        console().print(
            "\nLimits count from here: the evidence has used up nothing of them. "
            "advise counts what was acquired."
        )


def print_threshold(found: Threshold) -> None:
    """Print from which price, and from which stakes, a feature is used."""
    out = console()
    used = {True: "is used", False: "is not used", None: "may be used: not proved"}[found.is_used]
    out.print(f"{found.label} {used} by the optimal policy.", style="bold")
    out.print(found.describe_prices())
    if use := found.describe_use():
        out.print(use)
    out.print(found.describe_stakes())
    out.print(
        "\nPrices: all else as it is. Stakes: EMC, the expected misclassification cost with "
        "nothing known."
    )


def _least(rows: Sequence[ComparisonRow]) -> float:
    """Return the lowest cost of all rows that have one."""
    return min(
        (r.expected_total_cost for r in rows if r.expected_total_cost is not None), default=0
    )


def _above(rows: Sequence[ComparisonRow]) -> list[float]:
    """Return how much more than the lowest cost each policy costs; infinite: not known."""
    return [math.inf if above is None else above for above in costs_above_best(rows)]


def _print_point(rows: Sequence[ComparisonRow], currency: str) -> None:
    """Print what policies cost at one point, a row each."""
    least = _least(rows)
    # The last column says what is not exact; where all is, there is none.
    doubts = [] if all(row.exact for row in rows) else [""]
    amounts = (f">{in_currency(name, currency)}" for name in ("expected total cost", "savings"))
    costs = table("policy", *amounts, ">over the lowest", *doubts)
    for row, above in zip(rows, _above(rows), strict=True):
        over = "lowest" if above <= tolerance(least) else f"+{above / max(least, TOLERANCE):.1%}"
        costs.add_row(
            row.policy,
            row.cost_text,
            "" if row.savings is None else format_amount(row.savings),
            "" if row.expected_total_cost is None else over,
            *(row.doubt for _ in doubts),
        )
    print_table(costs)
    for row in rows:
        if row.certificate.note and not row.exact:
            cost, bound = row.expected_total_cost, row.certificate.lower_bound
            said = [f"\n{row.policy}:", row.certificate.note]
            if cost is not None and bound is not None:
                said.insert(1, describe_excess(cost, bound, currency))
            console().print(" ".join(said))
    if any(not row.exact and row.certificate.lower_bound is not None for row in rows):
        console().print(
            "\nThe optimum was not proved: its row is the best that the search found within its "
            "limits."
        )


def print_evaluation(found: Evaluation, currency: str = "") -> None:
    """Print what methods cost on new cases, and how much more than the lowest."""
    out = console()
    total = in_currency("total cost", currency)
    rows = table("method", f">{total}", ">above the lowest", ">features", ">decisions", ">right")
    for result in found.results:
        above = found.difference(result)
        is_lowest = result is found.results[0]
        accuracy = result.accuracy
        rows.add_row(
            result.label,
            format_mean(result.mean_total_cost, result.standard_error),
            "lowest" if is_lowest else format_mean(above.mean, above.standard_error),
            format_amount(result.mean_feature_cost),
            format_amount(result.mean_misclassification_cost),
            "–" if accuracy is None else f"{accuracy:.1%}",
            style="bold" if is_lowest else None,
        )
    print_table(rows)
    out.print(
        f"\nMeasured on {count_noun(len(found.rows), 'row')} that were not learned from "
        f"({count_noun(found.n_folds, 'fold')}): means ± standard errors. A policy is exact only "
        f"in its learned network; these are its costs on new cases."
    )
    for result in found.results:
        if result.n_unfinished:
            early = count_noun(result.n_unfinished, "row")
            out.print(
                f"{result.label}: the greedy policy went on in {early}, for want of time "
                f"(--time-limit)."
            )
    if chosen := next((result.chosen for result in found.results if result.chosen), ()):
        counts = ", ".join(f"{name} ({n})" for name, n in Counter(chosen).most_common())
        out.print(f"Recipes that auto chose, and in how many folds: {counts}.")


def print_lattice(lattice: Lattice, n_edges: int, top: Sequence[Value]) -> None:
    """Print the statistics of a lattice, as in Table 1 of the paper, and its best sets if given."""
    from math import comb

    out, problem = console(), lattice.problem
    n, nodes = len(lattice.acquirable), len(lattice)
    out.print(problem.title or "Untitled problem", style="bold")
    if lattice.evidence:
        out.print(f"Known: {feature_names(problem, lattice.evidence)}")
    rows = table("lattice", ">")
    rows.add_row("acquirable features", f"{n:,}")
    rows.add_row("all subsets", f"{lattice.n_subsets:,}" if n < 64 else f"2^{n}")
    limit = (
        "" if lattice.max_size is None else f" of at most {count_noun(lattice.max_size, 'feature')}"
    )
    rows.add_row(f"irreducible sets{limit}", f"{nodes:,}", style="bold")
    if problem.constraints and lattice.feasible is not None:
        rows.add_row("of these, can be acquired as they are", f"{int(lattice.feasible.sum()):,}")
    if lattice.max_size is None:
        rows.add_row("reduction", f"{100 * (1 - nodes / lattice.n_subsets):.3g} %")
    rows.add_row("edges", f"{n_edges:,}")
    rows.add_row("largest set", count_noun(len(lattice.level_sizes) - 1, "feature"))
    print_table(rows)
    out.print()
    levels = table(">features", ">irreducible", ">all sets", ">share")
    for size, count in enumerate(lattice.level_sizes):
        every = comb(n, size)
        levels.add_row(str(size), f"{count:,}", f"{every:,}", f"{100 * count / every:.3g} %")
    print_table(levels)
    if top:
        out.print()
        print_table(table_of_values(problem, "sets of highest benefit", top))
    core = feature_names(problem, lattice.acquirable_core) or "nothing"
    out.print(f"\nAcquirable core (the set of highest EVI): {core}")


def print_claims(claims: Iterable[Claim]) -> None:
    """Print the verdict on each of the paper's claims."""
    verdicts = table("the paper's claim", "verdict")
    for claim in claims:
        verdicts.add_row(claim.text, claim.verdict)
    print_table(verdicts)


def print_explanation(explanation: Explanation) -> None:
    """Print why a set is, or is not, in the lattice, and the constraints behind it."""
    out = console()
    for line in str(explanation).split("\n"):
        out.print(line)
    if explanation.members:
        label = explanation.problem.label
        out.print()
        rows = table("feature", "depends on the target", "here")
        for member in explanation.members:
            formula = "(too long to print)"
            if member.constraint is not None:
                formula = member.constraint.describe(label)
            when = formula if formula in ("always", "never") else f"if {formula}"
            rows.add_row(label(member.feature), when, "yes" if member.depends else "no")
        print_table(rows)
