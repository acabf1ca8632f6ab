"""The EVI of a set by a plain joint posterior of pyAgrum: what the benchmarks compare with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyagrum

from voilattice import Problem


def evi_with_pyagrum(
    problem: Problem,
    bn: Any,
    features: Collection[str],
    evidence: Mapping[str, str] | None = None,
) -> float:
    """Return EVI(S | e) from P(Y, S | e), made by LazyPropagation."""
    engine = pyagrum.LazyPropagation(bn)
    engine.setEvidence(dict(evidence or {}))
    names = {problem.target, *features}
    engine.addJointTarget(names)
    engine.makeInference()
    table, cost = engine.jointPosterior(names), problem.misclassification
    axis = list(reversed(table.names)).index(problem.target)
    joint = np.moveaxis(table.toarray(), axis, 0).reshape(len(cost), -1)
    return float((cost @ joint.sum(axis=1)).min() - (cost @ joint).min(axis=0).sum())
