"""Points of the sweep of Section 4.2, with costs that are made up."""

from voilattice.paper.experiment import QUICK, Point, Scenario

GOOD = {
    "none": lambda x, _: x,
    "markov-blanket": lambda x, _: 50 + x / 2,
    "greedy": lambda x, _: min(x, 20 + 0.6 * x),
    "greedy-la": lambda x, _: min(x, 10 + x / 2),
}


def made_points(curves, name="liver", costs="real", seeds=(None,), grid=QUICK):
    """Points of made-up costs: a function of the EMC and the kind for each policy."""
    return [
        Point(
            Scenario(name, costs, seed, kind), x, {p: float(c(x, kind)) for p, c in curves.items()}
        )
        for kind in ("symmetric", "asymmetric")
        for seed in seeds
        for x in grid.points(costs)
    ]
