"""A problem that is too large for the optimal policy: it works for minutes, greedy for a moment."""

from __future__ import annotations

import numpy as np

__all__ = ["large_problem"]


def large_problem(n_features: int = 36, seed: int = 3) -> str:
    """Return a problem file: each feature depends on the target and on the one before."""
    random = np.random.default_rng(seed)

    def rows(n_rows: int) -> str:
        shares = random.dirichlet((1.2, 1.2, 1.2), n_rows).round(4)
        shares[:, 2] = (1 - shares[:, 0] - shares[:, 1]).round(4)
        return ", ".join(str(row.tolist()) for row in np.abs(shares))

    names = [f"x{k:02}" for k in range(n_features)]
    nodes = ['[[network.nodes]]\nname = "y"\nstates = ["a", "b"]\ntable = [[0.45, 0.55]]']
    for k, name in enumerate(names):
        parents = ["y"] if k == 0 else ["y", names[k - 1]]
        nodes.append(
            f'[[network.nodes]]\nname = "{name}"\nstates = ["low", "middle", "high"]\n'
            f"parents = {parents}\ntable = [{rows(2 if k == 0 else 6)}]"
        )
    return "\n".join(
        ['title = "A large problem"', '[network]\ntarget = "y"', *nodes, "[costs]"]
        + [f"{name} = {1 + k % 7}" for k, name in enumerate(names)]
        + ["[misclassification]", "a = { a = 0, b = 900 }", "b = { a = 1400, b = 0 }"]
    )
