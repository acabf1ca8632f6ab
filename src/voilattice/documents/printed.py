"""What each command prints with ``--json``."""

from __future__ import annotations

from typing import Any

from voilattice.documents import consultations, policies, problems, sets, tables

__all__ = ["PRINTED"]

PRINTED: dict[str, Any] = {
    "problems": list[problems.ProblemEntry],
    "show": problems.ShownProblem,
    "value": sets.SetValue,
    "best": sets.BestSet,
    "lattice": sets.PrintedLattice,
    "explain": sets.Explanation,
    "advise": consultations.PrintedAdvice,
    "policy": policies.Policy,
    "report": policies.ReportedPolicy,
    "compare": list[policies.ComparisonRow],
    "threshold": policies.Threshold,
    "threshold --first-step": policies.AdviceThresholds,
    "apply": tables.Applied,
    "learn": tables.Learned,
    "evaluate": tables.Evaluation,
    "arena": tables.Arena,
    "reproduce": tables.Reproduction,
}
