import numpy as np
import pytest
from helpers.tables import draw_chain, table

from voilattice import VoilatticeError
from voilattice.lattice.independence import is_separated
from voilattice.learning.networks import learn_network
from voilattice.learning.recipes import Recipe
from voilattice.learning.structure import learn_structure


@pytest.mark.parametrize("score", ["BIC", "BDeu", "K2", "AIC"])
def test_the_independences_of_a_chain_are_found(score):
    learned = learn_network(draw_chain(4000), "y", Recipe(score=score))
    assert not is_separated(learned.network, ["y"], ["b"], [])
    if score in {"BIC", "BDeu"}:  # the others keep more arcs than the truth
        assert is_separated(learned.network, ["y"], ["b"], ["a"])
        assert is_separated(learned.network, ["y", "a", "b"], ["c"], [])


def test_restrictions_are_kept():
    data = draw_chain(2000)
    network = learn_network(data, "y", Recipe(target_first=True)).network
    assert network.parents[network.index("y")] == ()
    barred = Recipe(forbidden=(("y", "a"), ("a", "y")), required=(("c", "b"),), max_parents=1)
    network = learn_network(data, "y", barred).network
    y, a, b, c = (network.index(name) for name in "yabc")
    assert a not in network.parents[y]
    assert y not in network.parents[a]
    assert network.parents[b] == (c,)
    with pytest.raises(VoilatticeError, match="forbidden: no column 'z'"):
        learn_network(data, "y", Recipe(forbidden=(("z", "a"),)))
    with pytest.raises(VoilatticeError, match="required: these arcs make a cycle"):
        learn_network(data, "y", Recipe(required=(("a", "b"), ("b", "a"))))


def test_an_arc_into_a_target_without_parents_is_refused():
    recipe = Recipe(required=(("x", "y"),), target_first=True)
    with pytest.raises(VoilatticeError, match="required: an arc into y"):
        learn_network(table(y="aabb", x="1122"), "y", recipe)


def test_a_missing_cell_counts_as_the_most_frequent_state():
    y = np.array([0, 1] * 20)
    gaps, filled = np.array([-1, 1] * 20), np.ones(40, dtype=int)
    recipe = Recipe(target_first=True)
    assert learn_structure([2, 2], {"y": y, "x": gaps}, "y", recipe) == learn_structure(
        [2, 2], {"y": y, "x": filled}, "y", recipe
    )


def test_a_case_of_weight_two_counts_as_two_cases():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    codes = {"y": y, "a": np.where(rng.random(60) < 0.7, y, -1), "b": rng.integers(0, 2, 60)}
    weights = rng.integers(1, 5, 60)
    repeated = {name: np.repeat(column, weights) for name, column in codes.items()}
    for score in ("BIC", "AIC", "BDeu", "K2"):
        recipe = Recipe(score=score)
        assert learn_structure(
            [2, 2, 2], codes, "y", recipe, weights.astype(float)
        ) == learn_structure([2, 2, 2], repeated, "y", recipe)


def three_columns(n=400, seed=0):
    """Columns a and b that hang together given y, and c that hangs on y alone."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a = np.where(rng.random(n) < 0.8, y, 1 - y)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    c = np.where(rng.random(n) < 0.7, y, 1 - y)
    return {"a": a, "y": y, "b": b, "c": c}


@pytest.mark.parametrize(
    ("recipe", "parents"),
    [
        (Recipe(structure="naive"), [[1], [], [1], [1]]),
        (Recipe(structure="tree"), [[1], [], [0, 1], [1]]),
        (Recipe(structure="k-dependence", max_parents=2), [[1], [], [0, 1], [1]]),
        (Recipe(structure="k-dependence", max_parents=1), [[1], [], [1], [1]]),
    ],
)
def test_arcs_from_the_target(recipe, parents):
    assert learn_structure([2] * 4, three_columns(), "y", recipe) == parents


def test_a_k_dependence_network_keeps_to_its_number_of_parents():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    columns = {"y": y}
    for k in range(5):
        before = list(columns.values())[k]
        columns[f"x{k}"] = np.where(rng.random(600) < 0.9, before, 1 - before)
    for most in (1, 2, 3):
        recipe = Recipe(structure="k-dependence", max_parents=most)
        found = learn_structure([2] * 6, columns, "y", recipe)
        assert found[0] == []
        assert max(map(len, found)) <= most
        assert all(0 in parents for parents in found[1:])
