"""Growing the irreducible sets: the levels, their budget, and what is remembered of them."""

import numpy as np
import pytest
from helpers.problems import chain, naive_bayes, structured

from voilattice import Network, Problem, engines
from voilattice.errors import TooLargeError
from voilattice.lattice import growth
from voilattice.lattice.growth import grow_levels
from voilattice.lattice.independence import graph_of


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    monkeypatch.setattr(growth, "_cache", growth._Cache(growth.CACHE_BYTES))


def sets_of(levels):
    return [level[:, 0].tolist() for level in levels]


def rows(n):
    """A level of 8 n bytes."""
    return np.zeros((n, 1), dtype=np.uint64)


def test_levels_hold_the_sets_by_size_in_ascending_order():
    assert sets_of(grow_levels(graph_of(naive_bayes(3)), 0)) == [[0], [1, 2, 4], [3, 5, 6], [7]]
    assert sets_of(grow_levels(graph_of(chain(3)), 0)) == [[0], [1, 2, 4]]
    assert sets_of(grow_levels(graph_of(chain(3)), 0b010)) == [[0], [1]]


def test_a_largest_size_ends_the_levels():
    graph = graph_of(naive_bayes(3))
    for size in range(4):
        assert len(grow_levels(graph, 0, max_size=size)) == size + 1
    assert len(grow_levels(graph, 0, max_size=9)) == 4


@pytest.mark.parametrize(("n", "words"), [(1, 1), (64, 1), (65, 2)])
def test_a_set_takes_one_word_for_every_64_features(n, words):
    levels = grow_levels(graph_of(chain(n)), 0, engine="python")
    assert [level.shape for level in levels] == [(1, words), (n, words)]


def test_levels_cannot_be_changed():
    for level in grow_levels(graph_of(naive_bayes(2)), 0):
        assert not level.flags.writeable


def test_levels_are_remembered_for_the_engine_that_is_chosen_by_size_alone():
    graph = graph_of(naive_bayes(3))
    first = grow_levels(graph, 0)
    assert grow_levels(graph, 0) is first
    assert grow_levels(graph, 0, engine="python") is not first
    assert grow_levels(graph, 0, max_size=1) is not first
    assert grow_levels(graph, 1) is not first


def test_remembered_levels_of_just_the_budget_are_returned():
    graph = graph_of(naive_bayes(3))
    first = grow_levels(graph, 0)
    assert grow_levels(graph, 0, max_nodes=8) is first
    with pytest.raises(TooLargeError):
        grow_levels(graph, 0, max_nodes=7)


@pytest.mark.parametrize("n", range(1, 5))
def test_the_budget_counts_every_set_found(n):
    graph = graph_of(naive_bayes(n))
    assert sum(map(len, grow_levels(graph, 0, max_nodes=2**n, engine="python"))) == 2**n
    with pytest.raises(TooLargeError, match=f"more than {2**n - 1} irreducible set"):
        grow_levels(graph, 0, max_size=n, max_nodes=2**n - 1, engine="python")


def test_the_remedy_names_the_largest_size_that_is_whole():
    graph = graph_of(naive_bayes(4))  # 1, 4, 6, 4 and 1 sets of 0 to 4 features
    for max_nodes, size in ((4, None), (5, 1), (10, 1), (11, 2), (14, 2), (15, 3)):
        with pytest.raises(TooLargeError) as refused:
            grow_levels(graph, 0, max_nodes=max_nodes, engine="python")
        said = [r.text for r in refused.value.remedies if r.parameter == "max_size"]
        assert said == ([] if size is None else [f"keep to sets of at most {size}"])


def test_progress_tells_the_size_being_grown_and_the_sets_found_in_all():
    told = []
    grow_levels(
        graph_of(naive_bayes(2)), 0, engine="python", progress=lambda *now: told.append(now)
    )
    # From ∅ two sets; from {0} their union, from {1} nothing new; from both nothing.
    assert told == [(1, 3), (2, 4), (2, 4), (3, 4)]


def test_the_python_engine_grows_small_lattices_and_the_compiled_one_large_ones(monkeypatch):
    asked = []
    monkeypatch.setattr(growth, "choose_engine", lambda *what: asked.append(what) or "python")
    grow_levels(graph_of(naive_bayes(2)), 0)
    # Sets of the level × candidates × nodes, added up over the levels.
    work = (1 * 2 * 3, 3 * 2 * 3, 4 * 2 * 3)
    assert asked == [("auto", "growth", floods) for floods in work]


def test_a_lattice_that_becomes_large_goes_on_with_the_compiled_engine(monkeypatch):
    made = []
    readable = growth._TWINS["python"]
    for name in ("python", "compiled"):
        monkeypatch.setitem(
            growth._TWINS, name, lambda *graph, name=name: made.append(name) or readable(*graph)
        )
    monkeypatch.setitem(engines.COMPILED_FROM, "growth", 10)
    monkeypatch.setattr(engines, "are_ready", lambda loop: True)
    assert sum(map(len, grow_levels(graph_of(naive_bayes(2)), 0))) == 4
    assert made == ["python", "compiled"]
    made.clear()
    grow_levels(graph_of(naive_bayes(2)), 0, engine="compiled")
    assert made == ["compiled"]


def test_no_set_is_looked_at_twice(monkeypatch):
    graph, looked = graph_of(naive_bayes(3)), []

    class Counting:
        relevant = staticmethod(graph.relevant)

        @staticmethod
        def is_irreducible(mask, evidence):
            looked.append(mask)
            return graph.is_irreducible(mask, evidence)

    engine = growth._PythonGrower(Counting(), 0)
    level = np.array([[1], [2], [4]], dtype=np.uint64)
    found = engine.grow(level, lambda n: None)
    assert sorted(looked) == [3, 5, 6] == sorted(found[:, 0].tolist())


def test_the_cache_keeps_what_just_fits():
    cache = growth._Cache(80)
    cache.put("a", (rows(5),))
    cache.put("b", (rows(2), rows(3)))
    assert cache.get("a") is not None
    assert cache.get("b") is not None
    cache.put("c", (rows(1),))
    assert cache.get("a") is None
    assert cache.get("b") is not None
    assert cache.get("c") is not None


def test_the_cache_drops_what_is_a_byte_too_large():
    cache = growth._Cache(79)
    assert len(cache.put("a", (rows(10),))) == 1
    assert cache.get("a") is None


def test_the_cache_counts_an_entry_that_is_put_again_once():
    cache = growth._Cache(80)
    for _ in range(3):
        cache.put("a", (rows(5),))
    cache.put("b", (rows(5),))
    assert cache.get("a") is not None
    assert cache.get("b") is not None


def test_what_is_not_in_the_cache_is_none():
    assert growth._Cache(80).get("a") is None


def test_a_problem_whose_features_say_nothing_has_the_empty_set_alone():
    problem = structured({"X": [], "Y": []}, features=["X"])
    assert sets_of(grow_levels(graph_of(problem), 0)) == [[0]]


def test_a_problem_without_features_has_the_empty_set_in_one_word():
    network = Network.from_tables({"Y": ["T", "F"]}, {}, {"Y": [0.5, 0.5]})
    problem = Problem.create(network, "Y", {}, [[0, 1], [1, 0]], features=[])
    assert [level.tolist() for level in grow_levels(graph_of(problem), 0)] == [[[0]]]
