"""What the optimal policy costs to find.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import arguments
import numpy as np
from pystreed import CostSpecifier, FeatureCostSpecifier, STreeDCostSensitiveClassifier
from timing import best_of, one_thread

from voilattice import FeatureCosts, Lattice, Network, Problem, build_policy, load_problem
from voilattice.cases.application import apply_policy
from voilattice.cases.tables import draw_cases
from voilattice.optimal.exact import bellman, plain
from voilattice.optimal.exact.blocks import cells_of
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.exact.solution import solve
from voilattice.optimal.exact.space import StateSpace
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.tables import expected_emcs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from helpers.influence_diagrams import optimal_cost


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    problems: tuple[str, ...]
    counted: str  # the problem whose steps are looked at one by one
    n_tests: int  # of the influence diagrams
    growth: tuple[int, ...]  # numbers of features
    plain: tuple[int, ...]  # numbers of features that all matter
    in_blocks: int  # the most of them that are solved in blocks too
    n_streed: int  # features of heart that pystreed is given
    n_cases: int
    depths: tuple[int, ...]  # of pystreed's trees
    streed_seconds: int


FULL = Sizes(
    ("liver", "diabetes", "heart", "hepatitis", "thyroid"),
    counted="hepatitis",
    n_tests=4,
    growth=tuple(range(8, 21, 2)),
    plain=tuple(range(12, 18)),
    in_blocks=16,
    n_streed=13,
    n_cases=300,
    depths=tuple(range(5, 14)),
    streed_seconds=60,
)
SMALL = Sizes(
    ("liver", "heart"),
    counted="heart",
    n_tests=2,
    growth=(4, 6),
    plain=(5, 6),
    in_blocks=5,
    n_streed=4,
    n_cases=50,
    depths=(1, 2),
    streed_seconds=5,
)


# Solves n features that all matter, and prints how far the peak of the process's memory rises.
# (getrusage would give the peak of this process if it is higher: Linux passes it on.)
COLD = """
import re, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import optimal
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace

def peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1])

small = optimal.all_matter(5)
PlainSolution(PlainSpace(small, engine="compiled"), small)  # load the compiled engine
problem, before = optimal.all_matter(int(sys.argv[2])), peak()
PlainSolution(PlainSpace(problem, engine="compiled"), problem)
print(peak() - before)
"""


def main(small: bool = False, large: bool = False) -> None:
    """Measure everything."""
    sizes = SMALL if small else FULL
    build_policy(load_problem("heart"), "optimal")  # load the compiled engine
    spaces = states(sizes)
    against_the_lattice(spaces)
    against_numpy(sizes.counted, spaces[sizes.counted])
    del spaces
    against_influence_diagrams(sizes)
    growth(sizes)
    plain_tables(sizes, large)
    against_pystreed(sizes)


def states(sizes: Sizes) -> dict[str, StateSpace]:
    """Count merged states beside all partial assignments of what can matter."""
    print(
        "states                     all assignments      merged   ratio  blocks  irreducible sets"
    )
    spaces = {}
    for name in sizes.problems:
        problem = load_problem(name)
        spaces[name] = space = StateSpace(problem, engine="compiled")
        every = math.prod(int(size) + 1 for size in space.blocks.sizes)
        merged = space.blocks.n_states
        print(
            f"  {name:10} {every:29,} {merged:11,} {every / merged:7.1f} "
            f"{len(space.blocks):7,} {len(Lattice(problem)):17,}"
        )
    blocks, tables = spaces[sizes.counted].blocks, spaces[sizes.counted].tables
    forgets = np.flatnonzero(blocks.dropped)
    joint = np.unique(
        blocks.kept[blocks.parent[forgets]] | np.uint64(1) << blocks.axis[forgets].astype(np.uint64)
    )
    print(
        f"  {sizes.counted} forgets through {len(tables.factor_masks):,} screens with "
        f"{len(tables.factors) - 1:,} cells; the joint tables of these steps would have "
        f"{int(cells_of(joint, blocks.sizes).sum()):,}"
    )
    return spaces


def against_the_lattice(spaces: dict[str, StateSpace]) -> None:
    """Set the optimum beside one valuation of the whole lattice, both compiled."""
    print("\ntime of the optimum / time of one valuation of the lattice")
    print("                 solving     with growing the lattice and finding the states")
    for name, space in spaces.items():
        problem = space.problem
        lattice = Lattice(problem, engine="compiled")
        rows = lattice.rows
        value = best_of(lambda p=problem, r=rows: expected_emcs(p, {}, r, engine="compiled"), 3)
        solving = best_of(lambda s=space: solve(s, choices=False), 3)
        both = best_of(
            lambda p=problem: value_lattice(
                p, lattice=Lattice(p, engine="compiled"), engine="compiled"
            ),
            1,
        )
        whole = best_of(lambda p=problem: solve(StateSpace(p, engine="compiled"), choices=False), 1)
        print(
            f"  {name:10} {solving / value:10.2f}   {whole / both:10.2f}"
            f"      ({1e3 * solving:.1f} ms / {1e3 * value:.1f} ms)"
        )


def against_numpy(name: str, space: StateSpace) -> None:
    """Compare state-actions a second with numpy's add, in one thread."""
    blocks = space.blocks
    n = int((space.layout.cells[blocks.parent] * blocks.sizes[blocks.axis]).sum())
    with one_thread(bellman):
        solving = best_of(lambda: solve(space, choices=False), 5)
    first, second, out = (np.ones(blocks.n_states) for _ in range(3))
    repeats = n / blocks.n_states
    add = best_of(lambda: np.add(first, second, out=out), 7) * repeats
    print(
        f"\n{name}: {n:,} state-actions; {n / solving / 1e9:.2f} G/s, numpy.add over as many "
        f"cells {n / add / 1e9:.2f} G/s, ratio {add / solving:.2f}"
    )


def against_influence_diagrams(sizes: Sizes) -> None:
    """Set the optimum of a few tests beside pyAgrum's influence diagram of it."""
    rng = np.random.default_rng(0)
    names = ["Y", *(f"X{k}" for k in range(sizes.n_tests))]
    print(f"\npyAgrum's influence diagram / our optimum, {sizes.n_tests} tests")
    for n_states in (2, 3):
        tables = {"Y": rng.dirichlet([2, 2])} | {
            name: rng.dirichlet(np.full(n_states, 0.6), 2) for name in names[1:]
        }
        states = {name: [str(k) for k in range(2 if name == "Y" else n_states)] for name in names}
        network = Network.from_tables(states, {name: ["Y"] for name in names[1:]}, tables)
        problem = Problem.create(
            network, "Y", {name: 1.0 + k for k, name in enumerate(names[1:])}, ("symmetric", 50.0)
        )
        start = time.perf_counter()
        theirs = optimal_cost(problem)
        diagram = time.perf_counter() - start
        space = StateSpace(problem, engine="compiled")
        whole = best_of(
            lambda p=problem: solve(StateSpace(p, engine="compiled"), choices=False), 20
        )
        solving = best_of(lambda s=space: solve(s, choices=False), 20)
        ours = solve(space).expected_total_cost
        print(
            f"  {n_states} values each: {diagram / whole:,.0f} from nothing, "
            f"{diagram / solving:,.0f} solving ({diagram:.2f} s; {1e3 * whole:.2f} ms; "
            f"{1e6 * solving:.0f} µs); costs differ by {abs(ours - theirs):.1e}"
        )


def growth(sizes: Sizes) -> None:
    """Show how the work grows with the number of features, on trees of binary features."""
    print("\nfeatures   irreducible sets      states   ns a state-action   s from nothing")
    for n in sizes.growth:
        rng = np.random.default_rng(0)
        names = ["Y", *(f"X{k}" for k in range(1, n + 1))]
        above = {names[k]: [names[(k - 1) // 3]] for k in range(1, n + 1)}
        tables = {name: rng.dirichlet([1, 1], 2 if name in above else ()) for name in names}
        network = Network.from_tables({name: ["a", "b"] for name in names}, above, tables)
        problem = Problem.create(network, "Y", dict.fromkeys(names[1:], 1.0), ("symmetric", 100.0))
        start = time.perf_counter()
        space = StateSpace(problem, engine="compiled")
        solve(space, choices=False)
        whole = time.perf_counter() - start
        blocks = space.blocks
        steps = int((space.layout.cells[blocks.parent] * blocks.sizes[blocks.axis]).sum())
        solving = best_of(lambda s=space: solve(s, choices=False), 3)
        print(
            f"  {n:6} {len(Lattice(problem)):18,} {blocks.n_states:11,} "
            f"{1e9 * solving / steps:19.2f} {whole:16.3f}"
        )


def all_matter(n: int) -> Problem:
    """Return a problem whose binary features all matter, whatever is known: naive Bayes."""
    rng = np.random.default_rng(0)
    names = [f"X{k}" for k in range(n)]
    tables = {"Y": [0.6, 0.4]} | {name: rng.dirichlet([1, 1], 2) for name in names}
    network = Network.from_tables(
        {name: ["a", "b"] for name in tables}, {name: ["Y"] for name in names}, tables
    )
    prices = dict(zip(names, rng.uniform(1, 30, n).tolist(), strict=True))
    return Problem.create(network, "Y", prices, ("symmetric", 500.0))


def plain_tables(sizes: Sizes, large: bool) -> None:
    """Solve plain tables, with one thread and with two, and set blocks beside them."""
    print("\na plain table, all features matter")
    print("features        states    MiB   s   ns a state   1 / 2 threads   blocks / plain")
    numbers = (*sizes.plain, *([sizes.plain[-1] + 1] if large else []))
    for n in numbers:
        problem = all_matter(n)
        space = PlainSpace(problem, engine="compiled")

        def table(s: PlainSpace = space) -> object:
            return PlainSolution(s, s.problem)

        table()  # takes the room for V, which all others then use again
        two = best_of(table, 3)
        with one_thread(plain):
            one = best_of(table, 3)
        del space, table
        ratio = ""
        if n <= sizes.in_blocks:
            blocks = best_of(lambda p=problem: solve(StateSpace(p, engine="compiled")), 1)
            anew = best_of(lambda p=problem: PlainSolution(PlainSpace(p, engine="compiled"), p), 1)
            ratio = f"{blocks / anew:17.2f}"
        states = 3**n
        print(
            f"  {n:6} {states:13,} {8 * states >> 20:6,} {two:8.3f} {1e9 * two / states:8.1f} "
            f"{one / two:15.2f}{ratio}"
        )
    n = numbers[-1]
    here = str(Path(__file__).resolve().parent)
    done = subprocess.run(
        [sys.executable, "-c", COLD, here, str(n)], check=True, capture_output=True, text=True
    )
    grown = int(done.stdout)
    print(
        f"  {n} features in a cold process: {grown / 2**20:,.0f} MiB more = "
        f"{grown / 3**n:.2f} bytes a state"
    )


def against_pystreed(sizes: Sizes) -> None:
    """Set the optimum beside pystreed's trees, on cases drawn from heart as the joint."""
    heart = load_problem("heart")
    cases = draw_cases(heart.network, sizes.n_cases, np.random.default_rng(0))
    features, left_out = heart.features[: sizes.n_streed], heart.features[sizes.n_streed :]
    x = np.stack([(cases[f] != heart.states(f)[0]).astype(int) for f in features], axis=1)
    y = (cases["class"] != heart.classes[0]).astype(int)
    assert isinstance(heart.costs, FeatureCosts)
    costs = heart.costs.without(left_out)
    group = {f: g for g in costs.groups for f in g.features}
    stakes = np.array([[0.0, 600.0], [600.0, 0.0]])
    specifier = CostSpecifier(
        stakes.T.tolist(),
        [
            FeatureCostSpecifier(
                costs.prices[f] + (group[f].overhead if f in group else 0.0),
                costs.prices[f], group[f].name if f in group else f"own{k}", k, k,
            )
            for k, f in enumerate(features)
        ],
    )  # fmt: skip
    joint = np.zeros((2,) * (len(features) + 1))
    for row, label in zip(x, y, strict=True):
        joint[(*row, label)] += 1 / len(y)
    names = [*features, "class"]
    problem = Problem.create(
        Network.from_joint(names, {n: ["0", "1"] for n in names}, joint.reshape(-1).tolist()),
        "class",
        costs,
        stakes,
    )
    start = time.perf_counter()
    ours = solve(StateSpace(problem, engine="compiled"), choices=False).expected_total_cost
    mine = time.perf_counter() - start
    cases = {f: x[:, k].astype(str) for k, f in enumerate(problem.features)}
    applied = apply_policy(build_policy(problem, "optimal"), cases | {"class": y.astype(str)})
    assert applied.total_cost is not None
    print(
        f"\npystreed on heart, {sizes.n_cases} cases, {len(features)} features made binary; "
        f"ours, of any depth: {ours:.4f}, applied to the cases {applied.total_cost.mean():.4f}"
    )
    for depth in sizes.depths:
        model = STreeDCostSensitiveClassifier(
            max_depth=depth, max_num_nodes=2**depth - 1, time_limit=sizes.streed_seconds
        )
        start = time.perf_counter()
        model.fit(x, y, specifier)
        theirs = time.perf_counter() - start
        cost = _tree_cost(model.get_tree(), x, y, features, costs, group, stakes)
        print(
            f"  depth {depth}: {theirs / mine:8.2f} times our time "
            f"({theirs:.2f} s / {mine:.2f} s), cost {cost:.4f}"
        )
        if theirs > sizes.streed_seconds / 4 or cost < ours + 1e-6:
            break


def _tree_cost(tree, x, y, features, costs, group, stakes):  # type: ignore[no-untyped-def]
    total = 0.0
    for row, label in zip(x, y, strict=True):
        node, paid = tree, set()
        while not node.is_leaf_node():
            f = features[node.feature]
            total += costs.prices[f]
            if f in group and group[f].name not in paid:
                total += group[f].overhead
                paid.add(group[f].name)
            node = node.right_child if row[node.feature] else node.left_child
        total += stakes[int(node.label), label]
    return total / len(y)


if __name__ == "__main__":
    arguments.run(main, __doc__, large="also 18 features that all matter: 3 GB, some seconds")
