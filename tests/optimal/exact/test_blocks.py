"""The blocks of states: against the definition, block by block."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from helpers.problems import chain, naive_bayes, structured

from voilattice import (
    ConditionalCost,
    Discount,
    FeatureCosts,
    Group,
    Network,
    Problem,
    load_problem,
)
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.optimal.exact import blocks as module
from voilattice.optimal.exact.blocks import cells_of, find_blocks, unique_rows
from voilattice.policy.relevance import Relevance, screen

LARGE = 10**9


def grouped(problem, *groups, conditional=()):
    """The problem with these groups, by numbers of features, and conditional prices."""
    names = problem.features
    made = tuple(
        Group(f"g{place}", 2.0, tuple(names[k] for k in group))
        for place, group in enumerate(groups)
    )
    priced = tuple(ConditionalCost(names[a], {names[b]: "T"}, 9.0) for a, b in conditional)
    costs = FeatureCosts(dict.fromkeys(names, 1.0), made, priced)
    return Problem.create(problem.network, problem.target, costs, [[0, 9], [9, 0]], features=names)


def discounted(problem, *discounts):
    """The problem with these discounts: {number of a feature: (its price, what is taken off)}."""
    names = problem.features
    prices = dict.fromkeys(names, 1.0)
    prices |= {names[k]: float(price) for each in discounts for k, (price, _) in each.items()}
    made = tuple(
        Discount(f"d{place}", {names[k]: float(off) for k, (_, off) in each.items()})
        for place, each in enumerate(discounts)
    )
    costs = FeatureCosts(prices, discounts=made)
    return Problem.create(problem.network, problem.target, costs, [[0, 9], [9, 0]], features=names)


def collider():
    """X → Y ← Z, W ← Z, V ← X, and U says nothing."""
    return structured({"Y": ["X", "Z"], "W": ["Z"], "V": ["X"], "U": []})


def many_valued():
    """Y → A → B and Y → C, with two, three and four values."""
    sizes = {"Y": 2, "A": 3, "B": 2, "C": 4}
    parents = {"A": ["Y"], "B": ["A"], "C": ["Y"]}
    tables = {
        name: np.full((*(sizes[p] for p in parents.get(name, ())), size), 1 / size)
        for name, size in sizes.items()
    }
    states = {name: [f"s{v}" for v in range(size)] for name, size in sizes.items()}
    network = Network.from_tables(states, parents, tables)
    return Problem.create(network, "Y", dict.fromkeys("ABC", 1.0), [[0, 9], [9, 0]])


PROBLEMS = {
    "many values": many_valued(),
    "one feature": naive_bayes(1),
    "no feature that matters": structured({"X": [], "Y": []}, features=["X"]),
    "naive Bayes": naive_bayes(3),
    "chain": chain(4),
    "collider": collider(),
    "collider with evidence": collider().with_evidence({"W": "T"}),
    "chain with evidence": chain(4).with_evidence({"X02": "F"}),
    "asia": load_problem("asia"),
    "asia with evidence": load_problem("asia").with_evidence({"dysp": "yes"}),
    "groups": grouped(naive_bayes(4), (0, 2), (1,)),
    "groups in a chain": grouped(chain(4), (0, 3), (1, 2)),
    "a group already paid for": grouped(naive_bayes(4), (0, 2), (1, 3)).with_evidence({"X00": "T"}),
    "prices that depend on a chain": grouped(chain(4), conditional=[(0, 3)]),
    "prices that depend on a bystander": grouped(collider(), (0, 1), conditional=[(2, 0)]),
    "discounts": discounted(naive_bayes(4), {0: (3, 2), 2: (4, 1)}, {1: (2, 2), 3: (5, 0)}),
    "an opener that tells nothing": discounted(collider(), {0: (1, 1), 1: (9, 6), 2: (8, 5)}),
    "an opener that stops telling": discounted(chain(4), {3: (1, 0), 1: (9, 6), 2: (5, 5)}),
    # Whichever comes first, at least two features stop mattering: no block has just two.
    "two openers that tell nothing": discounted(
        structured({"A": [], "B": [], "X": ["Y"]}), {0: (3, 1), 1: (3, 1), 2: (30, 28)}
    ),
    "an opener that is known": discounted(collider(), {0: (1, 1), 1: (9, 6)}).with_evidence(
        {"U": "T"}
    ),
}


def by_definition(problem):
    """Return each block (R, K, paid) and its steps {i: (its child, D, B)}, in masks of features."""
    relevance = Relevance(problem)
    e = problem.feature_mask(problem.evidence)
    r, _ = relevance.what_matters(e)
    found, todo = {}, [(r, 0, relevance.groups_paid(e, r))]
    while todo:
        block = r, k, paid = todo.pop()
        if block in found:
            continue
        found[block] = {}
        for i in bits(r):
            known = k | 1 << i
            touched = paid | relevance.groups_touched(1 << i)
            new_r, new_k = relevance.what_matters(known | e, r & ~(1 << i), touched)
            new_k &= known
            child = new_r, new_k, touched & relevance.groups_touched(new_r)
            gone = known & ~new_k
            seen = screen(relevance.graph, gone, new_k | e) & new_k if gone else 0
            found[block][i] = child, gone, seen
            todo.append(child)
    return found


def as_found(blocks):
    """Return the same of what was found."""

    def wide(axes):
        return mask_of(blocks.features[a] for a in bits(int(axes)))

    def block(b):
        return wide(blocks.relevant[b]), wide(blocks.kept[b]), int(blocks.paid[b])

    found = {}
    for b in range(len(blocks)):
        steps = range(blocks.first[b], blocks.first[b + 1])
        found[block(b)] = {
            blocks.features[blocks.axis[t]]: (
                block(blocks.child[t]),
                wide(blocks.dropped[t]),
                wide(blocks.screen[t]),
            )
            for t in steps
        }
    return found


@pytest.mark.parametrize("name", PROBLEMS)
def test_blocks_and_steps_are_those_of_the_definition(name):
    problem = PROBLEMS[name]
    blocks = find_blocks(problem, LARGE, engine="python")
    want = by_definition(problem)
    assert as_found(blocks) == want
    assert len(blocks) == len(want)
    assert len(blocks.axis) == sum(map(len, want.values()))
    sizes = [len(problem.states(problem.features[k])) for k in blocks.features]
    assert blocks.sizes.tolist() == sizes


@pytest.mark.parametrize("name", PROBLEMS)
def test_children_stand_behind_their_parents(name):
    blocks = find_blocks(PROBLEMS[name], LARGE, engine="python")
    assert (blocks.child > blocks.parent).all()
    n_relevant = np.bitwise_count(blocks.relevant)
    assert (np.diff(n_relevant.astype(int)) <= 0).all()
    assert np.diff(blocks.first).tolist() == n_relevant.tolist()
    assert blocks.first[0] == 0
    assert blocks.first[-1] == len(blocks.axis) == len(blocks.parent)
    assert blocks.kept[0] == 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_axes_that_most_states_touch_are_the_slowest(name):
    blocks = find_blocks(PROBLEMS[name], LARGE, engine="python")
    load = [0.0] * len(blocks.features)
    for t, b in enumerate(blocks.parent.tolist()):
        touched = int(blocks.dropped[t] | blocks.screen[t]) | 1 << int(blocks.axis[t])
        for a in bits(touched):
            load[a] += float(blocks.cells[b])
    pairs = list(zip([-x for x in load], blocks.features, strict=True))
    assert pairs == sorted(pairs)


def test_states_are_counted_over_the_values_of_what_is_kept():
    blocks = find_blocks(naive_bayes(3), LARGE, engine="python")
    assert len(blocks) == 8
    assert blocks.n_states == 3**3  # each feature is unknown, or has one of two values
    assert blocks.cells.tolist() == [2 ** int(k).bit_count() for k in blocks.kept]
    assert blocks.parent.tolist() == [b for b in range(8) for _ in bits(int(blocks.relevant[b]))]


def test_blocks_that_were_found_cannot_be_changed():
    blocks = find_blocks(naive_bayes(2), LARGE, engine="python")
    with pytest.raises(FrozenInstanceError):
        blocks.kept = blocks.relevant
    assert not hasattr(blocks, "__dict__")


def test_cells_are_the_product_of_the_sizes():
    masks = np.arange(8, dtype=np.uint64)
    sizes = np.array([2, 3, 5])
    assert cells_of(masks, sizes).tolist() == [1, 2, 3, 6, 5, 10, 15, 30]
    assert cells_of(masks[:0], sizes).tolist() == []


@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_unique_rows_are_those_of_numpy(n):
    rows = np.random.default_rng(n).integers(0, 3, (n, 3)).astype(np.uint64)
    found, inverse = unique_rows(rows)
    want, where = np.unique(rows, axis=0, return_inverse=True)
    assert found.tolist() == want.tolist()
    assert inverse.tolist() == where.reshape(-1).tolist()


def test_the_budget_counts_the_states_and_eight_for_each_step():
    # Blocks of 1, of 2 + 2 and of 4 states; 2 steps lead to the second level, 2 to the third.
    n_states, n_steps = 9, 4
    budget = n_states + 8 * n_steps
    assert len(find_blocks(naive_bayes(2), budget, engine="python")) == 4
    with pytest.raises(TooLargeError, match=f"more than {budget - 1} states"):
        find_blocks(naive_bayes(2), budget - 1, engine="python")


def test_the_first_block_alone_is_one_state():
    problem = PROBLEMS["no feature that matters"]
    assert find_blocks(problem, 1, engine="python").n_states == 1
    with pytest.raises(TooLargeError):
        find_blocks(problem, 0, engine="python")


def test_without_time_no_blocks_are_found():
    deadline = Deadline(0)
    while not deadline.is_over:
        pass
    for engine in ("python", "compiled"):
        with pytest.raises(TooLargeError, match="not found in time"):
            find_blocks(naive_bayes(2), LARGE, engine=engine, deadline=deadline)


def test_64_features_are_not_too_many_and_65_are():
    with pytest.raises(TooLargeError, match="more than 100 states"):
        find_blocks(naive_bayes(64), 100, engine="python")
    with pytest.raises(
        TooLargeError,
        match="65 features matter and there are 0 groups",
    ):
        find_blocks(naive_bayes(65), 100, engine="python")


def test_64_groups_are_not_too_many_and_65_are():
    def with_groups(n):
        parents = {"A": ["Y"], **{f"X{k:02d}": [] for k in range(n - 1)}}
        return grouped(structured(parents), *((k,) for k in range(n)))

    assert len(find_blocks(with_groups(64), LARGE, engine="python")) == 2
    with pytest.raises(TooLargeError, match="at most 64"):
        find_blocks(with_groups(65), LARGE, engine="python")


@pytest.mark.parametrize(("n_hidden", "is_compiled"), [(61, True), (62, False)])
def test_networks_of_more_than_64_nodes_are_walked_in_python(monkeypatch, n_hidden, is_compiled):
    used = []
    original = module._CompiledSteps.__call__
    monkeypatch.setattr(
        module._CompiledSteps,
        "__call__",
        lambda self, blocks: used.append(len(blocks)) or original(self, blocks),
    )
    hidden = {f"H{k:02d}": [] for k in range(n_hidden)}
    problem = structured({"X0": ["Y"], "X1": ["Y"], **hidden}, features=["X0", "X1"])
    assert len(problem.network.names) == 3 + n_hidden
    assert len(find_blocks(problem, LARGE, engine="compiled")) == 4
    assert bool(used) == is_compiled
