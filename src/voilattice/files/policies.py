"""Saved policies: JSON with a version, a fingerprint of the problem and a checksum.

    {"format": "voilattice policy", "version": 2,
     "policy": "greedy-la", "problem": fingerprint, "evidence": {}, "checksum": of all the rest,
     "lower_bound": null, "exact": true, "status": "ok", "note": "", "complete": false,
     "nodes": [{"decide": "no", "posterior": [0.1, 0.9], "emc": 5.0}, ...,
               {"acquire": ["xray"], "price": 8.0,
                "branches": [{"states": ["yes"], "probability": 0.11, "to": 0}, ...]}]}

Each node comes after the nodes that its branches lead to; the last node is the root. A leaf at
which the work stopped early also has ``"open": true`` (`policy.policy`). ``"complete": true`` says
that cases go on beyond the nodes as `cases.completion` has it. A policy can only be
loaded for the problem it was built for, because its probabilities and prices come from that
problem. The evidence that it was built with is in the file. Bins do not matter for a policy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from voilattice.errors import InputError, TooLargeError, VoilatticeError, within
from voilattice.files.networks import read_text
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Branch, Certificate, Leaf, Node, Policy
from voilattice.wording import quote

__all__ = ["fingerprint", "load_policy", "load_with_evidence", "save_policy"]

FORMAT = "voilattice policy"
VERSION = 2
OLD_VERSION = 1  # without the certificate
MAX_POLICY_BYTES = 500_000_000


def fingerprint(problem: Problem) -> str:
    """Return a short text that identifies a problem: different problems have different texts."""
    costs, network = problem.pricing.fingerprints(), problem.network
    parts = (
        network.names,
        network.states,
        network.parents,
        [table.tolist() for table in network.tables],
        problem.target,
        problem.features,
        costs.pop("costs", []),
        costs.pop("groups", []),
        costs.pop("conditional_costs", []),
        problem.misclassification.tolist(),
        sorted(problem.evidence.items()),
    )
    # What older versions did not know is added only where it is there: so theirs is the same text.
    more: list[object] = []
    if "discounts" in costs:
        more.append(costs.pop("discounts"))
    if problem.decisions != problem.classes:
        more.append({"decisions": problem.decisions})
    if "rounds" in costs:
        more.append(costs.pop("rounds"))
    if problem.constraints:
        rules = [(c.feature, c.after, c.only_if, c.not_if) for c in problem.constraints]
        more.append({"constraints": rules})
    if problem.limits:
        more.append({"limits": asdict(problem.limits)})
    if costs:
        more.append(costs)
    return _digest((*parts, *more))


def save_policy(policy: Policy, path: str | Path) -> None:
    """Write a policy to a file; `load_policy` gives back an equal one."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "policy": policy.name,
        "problem": fingerprint(policy.problem),
        "evidence": dict(policy.problem.evidence),
        "lower_bound": policy.lower_bound,
        "exact": policy.exact,
        "status": policy.status,
        "note": policy.certificate.note,
        "complete": policy.is_complete,
        "nodes": [_document(node) for node in policy.nodes],
    }
    document["checksum"] = _digest(document)
    try:
        Path(path).write_text(json.dumps(document), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def load_policy(path: str | Path, problem: Problem) -> Policy:
    """Read a policy that was saved for this problem.

    Raises
    ------
    InputError
        The file is not a policy, was changed, has another version, or belongs to another problem.
    """
    with within(str(path)):
        return _policy(_read(Path(path)), problem)


def load_with_evidence(path: str | Path, problem: Problem) -> Policy:
    """Read a policy that was saved for this problem, or for the problem with more evidence.

    The evidence that the policy was built with is part of the policy's problem, as in
    `build_policy`. The errors are those of `load_policy`.
    """
    with within(str(path)):
        document = _read(Path(path))
        evidence = document.get("evidence")
        if isinstance(evidence, dict):  # older files do not say it
            # Evidence that the problem cannot have is that of another problem.
            with suppress(VoilatticeError):
                problem = problem.with_evidence(problem.further(evidence))
        return _policy(document, problem)


def _read(path: Path) -> dict[str, Any]:
    """Return the document in a file, unchanged since it was saved."""
    try:
        if path.stat().st_size > MAX_POLICY_BYTES:
            raise TooLargeError(f"a policy file may have at most {MAX_POLICY_BYTES} bytes")
        document = json.loads(read_text(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, InputError | TooLargeError):
            raise
        raise InputError(f"not valid JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"this is not a saved policy: the key 'format' must be {FORMAT!r}")
    if document.get("version") not in (OLD_VERSION, VERSION):
        raise InputError(
            f"version {document.get('version')!r} is not supported, only {OLD_VERSION} and "
            f"{VERSION}; build the policy again"
        )
    checksum = document.pop("checksum", None)
    if checksum != _digest(document):
        raise InputError("the file was changed after it was saved; build the policy again")
    return document


def _policy(document: Mapping[str, Any], problem: Problem) -> Policy:
    if document.get("problem") != fingerprint(problem):
        raise InputError(
            "this policy was built for another problem (its network, prices, stakes or "
            "evidence differ); build it again"
        )
    try:
        nodes = tuple(_node(entry) for entry in document["nodes"])
        is_complete = document.get("complete", False)  # older files do not say it
        if not isinstance(is_complete, bool):
            raise InputError(f"complete: must be true or false, got {quote(is_complete)}")
        name, certificate = str(document["policy"]), _certificate(document)
        return Policy(problem, name, nodes, certificate, is_complete)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, VoilatticeError):
            raise
        message = f"this is not a saved policy: {type(error).__name__} {error}"
        raise InputError(message) from None


def _certificate(document: Mapping[str, Any]) -> Certificate:
    if document["version"] == OLD_VERSION:
        # Version 1 does not say whether an optimum was proved.
        return Certificate(exact=document["policy"] != "optimal")
    exact = document["exact"]
    if not isinstance(exact, bool):
        raise InputError(f"exact: must be true or false, got {quote(exact)}")
    note = document.get("note", "")  # older files have none
    if not isinstance(note, str):
        raise InputError(f"note: must be text, got {quote(note)}")
    return Certificate(document["lower_bound"], exact, document["status"], note)


def _document(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        leaf = {"decide": node.decision, "posterior": list(node.posterior), "emc": node.emc}
        return leaf | ({"open": True} if node.is_open else {})
    return {
        "acquire": list(node.features),
        "price": node.price,
        "branches": [
            {"states": list(b.states), "probability": b.probability, "to": b.child}
            for b in node.branches
        ],
    }


def _node(entry: Mapping[str, Any]) -> Node:
    if "decide" in entry:
        is_open = entry.get("open", False)
        if not isinstance(is_open, bool):
            raise InputError(f"open: must be true or false, got {quote(is_open)}")
        return Leaf(entry["decide"], tuple(entry["posterior"]), entry["emc"], is_open)
    branches = tuple(
        Branch(tuple(b["states"]), b["probability"], b["to"]) for b in entry["branches"]
    )
    return Acquisition(tuple(entry["acquire"]), entry["price"], branches)


def _digest(document: object) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
