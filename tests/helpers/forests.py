"""Random augmented naive Bayes networks, with cases."""

import numpy as np

from voilattice.learning.augmented import Augmented


def random_forest(n_features, n_classes, *, seed, n_cases=40):
    """Return a network of some features, and the columns and classes of cases with gaps."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, n_features)
    parents = tuple(int(rng.integers(-1, i)) if i else -1 for i in range(n_features))
    tables = []
    for i, parent in enumerate(parents):
        n_above = 1 if parent < 0 else int(sizes[parent])
        tables.append(rng.dirichlet(np.ones(sizes[i]), (n_classes, n_above)))
    codes = [rng.integers(-1, size, n_cases) for size in sizes]
    network = Augmented(rng.dirichlet(np.ones(n_classes)), parents, tuple(tables))
    return network, codes, rng.integers(0, n_classes, n_cases)
