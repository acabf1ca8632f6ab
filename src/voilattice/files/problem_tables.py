"""The tables of a problem file, as TOML holds them, and the problem that they describe.

`parse_problem` makes a problem from the tables, and `problem_tables` is the opposite. Errors name
the place in the file. ``docs/problem-files.md`` describes the tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, UnknownNameError, located
from voilattice.files.networks import read_network
from voilattice.files.toml_errors import DECIMAL_POINT, has_decimal_commas
from voilattice.model.acquisition import Constraint
from voilattice.model.costs import FeatureCosts
from voilattice.model.costs.feature_costs import KINDS
from voilattice.model.network import Network, Table, check_names, table_of_rows
from voilattice.model.problem import Misclassification, Problem
from voilattice.model.sections import (
    check_keys,
    expect,
    expect_all,
    expect_entries,
    expect_numbers,
)
from voilattice.wording import nearest, quote

__all__ = ["CostFile", "parse_costs", "parse_problem", "problem_tables"]

SOURCES = ("file", "joint", "nodes")  # of a network
COST_TABLES = tuple(kind.key for kind in KINDS.values())
RULE_TABLES = ("constraints", "limits")
WORDS = ("currency", "labels", "state_labels")  # what people read


@dataclass(frozen=True, slots=True)
class CostFile:
    """What a problem file says beside its network: costs, and what people read."""

    costs: FeatureCosts
    stakes: Misclassification | None = None
    currency: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    state_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def parse_problem(
    document: Mapping[str, Any], folder: Path, *, network: Network | None = None
) -> Problem:
    """Return the problem in the tables of a problem file; its network is in `folder`.

    Parameters
    ----------
    network
        The network, if it has been read already.
    """
    known = (
        "title", "network", *COST_TABLES, *RULE_TABLES, "misclassification", "evidence", "bins",
        *WORDS,
    )  # fmt: skip
    check_keys(document, known, required=("network", "costs", "misclassification"))
    evidence = expect(document.get("evidence", {}), dict, "evidence")
    for feature, value in evidence.items():
        if not isinstance(value, str | int | float):  # a raw value; a truth value is one too
            raise InputError(f"must be text or a number, got {quote(value)}", f"evidence.{feature}")
    bins = expect(document.get("bins", {}), dict, "bins")
    for feature in bins:
        expect_all(bins[feature], float, f"bins.{feature}")
    section = expect(document["network"], dict, "network")
    with located("network"):
        check_keys(section, ("target", "features", *SOURCES), required=("target",))
        target = expect(section["target"], str, "target")
        features = None
        if "features" in section:
            features = expect_all(section["features"], str, "features")
        network = network or _network(section, folder)
    return Problem.create(
        network,
        target,
        FeatureCosts.read(document),
        _misclassification(expect(document["misclassification"], dict, "misclassification")),
        features=features,
        evidence=evidence,
        title=expect(document.get("title", ""), str, "title"),
        bins=bins,
        constraints=_constraints(document.get("constraints", [])),
        limits=expect_numbers(document.get("limits", {}), "limits"),
        **_words(document),
    )


def _words(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "currency": expect(document.get("currency", ""), str, "currency"),
        "labels": expect(document.get("labels", {}), dict, "labels"),
        "state_labels": expect(document.get("state_labels", {}), dict, "state_labels"),
    }


def parse_costs(document: Mapping[str, Any]) -> CostFile:
    """Return the costs in the cost tables of a problem file, without the other tables."""
    check_keys(document, (*COST_TABLES, "misclassification", *WORDS), required=("costs",))
    stakes = None
    if "misclassification" in document:
        section = expect(document["misclassification"], dict, "misclassification")
        stakes = _misclassification(section)
    return CostFile(FeatureCosts.read(document), stakes, **_words(document))


def _network(section: Mapping[str, Any], folder: Path) -> Network:
    found = [key for key in SOURCES if key in section]
    if len(found) != 1:
        raise InputError(
            f"needs one of file, joint and nodes, found {' and '.join(found) or 'none'}"
        )
    if "nodes" in section:
        return _nodes(section["nodes"])
    if "file" in section:
        file = expect(section["file"], str, "file")
        with located("file"):
            if not file:
                raise InputError("must name a file, got ''")
            return read_network(folder / file)
    joint = expect(section["joint"], dict, "joint")
    with located("joint"):
        check_keys(joint, names := ("variables", "states", "probabilities"), required=names)
        states = expect(joint["states"], dict, "states")
        return Network.from_joint(
            expect_all(joint["variables"], str, "variables"),
            {name: expect_all(states[name], str, f"states.{name}") for name in states},
            expect_all(joint["probabilities"], float, "probabilities"),
        )


def _nodes(entries: Any) -> Network:
    """Return the network that is written node by node; a child may come before its parents."""
    states: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    rows: dict[str, list[list[float]]] = {}
    for place, entry in enumerate(expect_entries(entries, "nodes", "network.nodes")):
        with located(_node_place(place, entry, states)):
            check_keys(
                entry, ("name", "states", "parents", "table"), required=("name", "states", "table")
            )
            name = expect(entry["name"], str, "name")
            with located("name"):
                check_names("the node", [name])
            if name in states:
                raise InputError(f"{quote(name)} appears twice; names must be unique", "name")
            states[name] = expect_all(entry["states"], str, "states")
            with located("states"):
                check_names(f"the states of {name!r}", states[name])
            parents[name] = expect_all(entry.get("parents", []), str, "parents")
            table = expect_all(entry["table"], list, "table")
            rows[name] = [expect_all(row, float, f"table[{k}]") for k, row in enumerate(table)]
    tables = {}
    for name in states:
        with located(f"nodes.{name}"):
            tables[name] = _node_table(name, states, parents[name], rows[name])
    with located("nodes"):
        return replace(Network.from_tables(states, parents, tables), is_inline=True)


def _node_place(place: int, entry: Mapping[str, Any], earlier: Collection[str]) -> str:
    """Return the place of a node: by its name, or by its number where the name does not do."""
    name = entry.get("name")
    is_name = isinstance(name, str) and name.isprintable() and bool(name.strip())
    return f"nodes.{name}" if is_name and name not in earlier else f"nodes[{place}]"


def _node_table(
    name: str, states: Mapping[str, list[str]], parents: list[str], rows: list[list[float]]
) -> Table:
    for place, parent in enumerate(parents):
        with located(f"parents[{place}]"):
            if parent not in states:
                raise UnknownNameError(f"no node {quote(parent)}{nearest(parent, states)}")
            if parent in parents[:place]:
                raise InputError(f"{quote(parent)} appears twice")
    with located("table"):
        for place, row in enumerate(rows):
            if has_decimal_commas(row, n := len(states[name])):
                raise InputError(
                    f"row {place + 1} needs {n} probabilities, one for each state of {name!r}; "
                    f"got {len(row)} numbers: {DECIMAL_POINT}"
                )
        return table_of_rows(name, states[name], {p: states[p] for p in parents}, rows)


def _constraints(entries: Any) -> Iterable[Constraint]:
    for place, entry in enumerate(expect_entries(entries, "constraints")):
        with located(f"constraints[{place}]"):
            known = ("feature", "after", "only_if", "not_if")
            check_keys(entry, known, required=("feature",))
            values = {}
            for name in ("only_if", "not_if"):
                values[name] = expect(entry.get(name, {}), dict, name)
                for feature, state in values[name].items():
                    expect(state, str, f"{name}.{feature}")
            yield Constraint(
                expect(entry["feature"], str, "feature"),
                tuple(expect_all(entry.get("after", []), str, "after")),
                tuple(values["only_if"].items()),
                tuple(values["not_if"].items()),
            )


def _misclassification(section: Mapping[str, Any]) -> Misclassification:
    if not section:
        raise InputError("must hold the matrix, or kind and expected", "misclassification")
    # The rows of a matrix are tables, so a decision may also be named kind or expected.
    scaled = [key for key in ("kind", "expected") if not isinstance(section.get(key, {}), dict)]
    if not scaled:
        return section
    with located("misclassification"):
        check_keys(section, names := ("kind", "expected"), required=names)
        return (expect(section["kind"], str, "kind"), section["expected"])


def problem_tables(
    problem: Problem, costs: Mapping[str, Any], network: str | None
) -> dict[str, Any]:
    """Return the problem as the tables of its file; the opposite of `parse_problem`.

    `costs` are the tables of its prices. Without the name of a network's file, the nodes of the
    network are still to be added.
    """
    document: dict[str, Any] = {"title": problem.title} if problem.title else {}
    if problem.currency:
        document["currency"] = problem.currency
    document["network"] = ({} if network is None else {"file": network}) | {
        "target": problem.target,
        "features": list(problem.features),
    }
    document["costs"] = costs.get("costs", {})
    document["misclassification"] = {
        decision: dict(zip(problem.classes, row, strict=True))
        for decision, row in zip(problem.decisions, problem.misclassification.tolist(), strict=True)
    }
    if problem.bins:
        document["bins"] = {name: list(cuts) for name, cuts in problem.bins.items()}
    if problem.labels:
        document["labels"] = dict(problem.labels)
    if problem.state_labels:
        document["state_labels"] = {name: dict(of) for name, of in problem.state_labels.items()}
    if problem.evidence:
        document["evidence"] = dict(problem.evidence)
    document |= costs  # the prices themselves stay where they are
    constraints = [_constraint_table(entry) for entry in problem.constraints]
    limits = {key: most for key, most in asdict(problem.limits).items() if most is not None}
    if constraints:
        document["constraints"] = constraints
    if limits:
        document["limits"] = limits
    return document


def _constraint_table(entry: Constraint) -> dict[str, Any]:
    table: dict[str, Any] = {"feature": entry.feature}
    if entry.after:
        table["after"] = list(entry.after)
    if entry.only_if:
        table["only_if"] = dict(entry.only_if)
    if entry.not_if:
        table["not_if"] = dict(entry.not_if)
    return table
