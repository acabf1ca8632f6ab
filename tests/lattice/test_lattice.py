import itertools
import math
import tracemalloc

import networkx
import numpy as np
import pytest
from helpers.brute_force import BruteForce
from helpers.problems import chain, naive_bayes, structured
from helpers.rich_worlds import rich_problem
from helpers.strategies import DATA, needs_data, problems
from helpers.ward import ward
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import Problem, load_problem, read_network
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.lattice import growth, lattice
from voilattice.lattice.independence import graph_of
from voilattice.lattice.lattice import Lattice

graphs = problems(min_features=2, max_features=6, max_hidden=2, max_states=2)
ENGINES = ["python", "compiled"]


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    monkeypatch.setattr(growth, "_cache", growth._Cache(growth.CACHE_BYTES))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@given(problem=graphs)
def test_the_lattice_is_definition_2(engine, problem):
    brute, v = BruteForce(problem), Lattice(problem, engine=engine)
    assert len(v) == len(set(v))
    assert set(v) == brute.irreducible_sets()
    edges = list(v.edges())
    assert len(edges) == len(set(edges)) == v.n_edges
    assert set(edges) == brute.edges()


@pytest.mark.slow
@given(graphs)
def test_the_order_of_the_lattice(problem):
    brute, v = BruteForce(problem), Lattice(problem)
    nodes, edges = brute.irreducible_sets(), brute.edges()
    assert set(v.roots) == {s for s in nodes if not any(s < t for t in nodes)}
    assert set(v.leaves) == {s for s in nodes if not any(t < s for t in nodes)}
    assert v.level_sizes == tuple(
        sum(len(s) == size for s in nodes) for size in range(max(map(len, nodes)) + 1)
    )
    for s in nodes:
        assert set(v.direct_subsets(s)) == {t for u, t in edges if u == s}
        assert set(v.direct_supersets(s)) == {u for u, t in edges if t == s}
        assert set(v.ancestors(s)) == {t for t in nodes if s < t}
        assert set(v.descendants(s)) == {t for t in nodes if t < s}
    for s in brute.subsets():
        assert (s in v) == (s in nodes)
        assert v.core_of(s) == brute.cores(s)[0]
    for s, t in itertools.product(nodes, nodes):
        assert v.separates(s, t) == brute.is_separated(s, t)


@given(graphs)
def test_one_feature_can_always_be_taken_away(problem):
    """The theorem that makes potentially irreducible sets unnecessary, and a little more of it."""
    brute = BruteForce(problem)
    nodes = brute.irreducible_sets()
    for s in nodes - {frozenset()}:
        assert any(s - {x} in nodes for x in s)
    for s, t in itertools.permutations(nodes, 2):
        if t < s and len(s) >= len(t) + 2:
            assert any(t < u < s for u in nodes)


@pytest.mark.parametrize("engine", ENGINES)
@given(problem=graphs, max_size=st.integers(0, 3))
def test_max_size_keeps_the_small_sets(engine, problem, max_size):
    v = Lattice(problem, max_size=max_size, engine=engine)
    assert set(v) == {s for s in Lattice(problem) if len(s) <= max_size}


@pytest.mark.slow
@given(graphs, st.data())
def test_evidence_given_to_the_lattice_is_evidence_of_the_problem(problem, data):
    free = [f for f in problem.features if f not in problem.evidence]
    known = {f for f in free if data.draw(st.booleans())}
    brute = BruteForce(problem)
    brute.known |= known
    brute.free = [f for f in free if f not in known]
    v = Lattice(problem, known)
    assert set(v) == brute.irreducible_sets()
    assert v.evidence == brute.known
    assert v.n_subsets == 2 ** len(brute.free)
    assert [v.acquirable_core] == brute.cores(brute.free)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [0, 1, 7, 12])
def test_naive_bayes_has_every_subset(engine, n):
    problem = naive_bayes(n) if n else structured({"X": [], "Y": []}, features=["X"])
    v = Lattice(problem, engine=engine)
    assert len(v) == 2**n
    assert v.level_sizes == tuple(math.comb(n, k) for k in range(n + 1))
    assert v.n_edges == n * 2 ** max(n - 1, 0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [1, 5, 80])
def test_a_chain_has_one_feature_at_a_time(engine, n):
    v = Lattice(chain(n), engine=engine)
    assert len(v) == n + 1
    assert v.roots == [frozenset({f"X{k:02d}"}) for k in range(n)]


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.2, 0.3]), st.integers(60, 75))
def test_engines_agree_beyond_64_features(seed, density, n):
    rng = np.random.default_rng(seed)
    names = ["Y", *(f"X{k:02d}" for k in range(n))]
    order = [str(name) for name in rng.permutation(names)]
    parents = {
        name: [p for p in order[max(0, place - 8) : place] if rng.random() < density][:4]
        for place, name in enumerate(order)
    }
    problem = structured(parents)
    by_python = Lattice(problem, max_size=2, engine="python")
    by_kernel = Lattice(problem, max_size=2, engine="compiled")
    assert list(by_python) == list(by_kernel)


def test_large_lattices_are_grown_by_the_compiled_engine(monkeypatch):
    grown = []
    original = growth._CompiledGrower.grow
    monkeypatch.setattr(
        growth._CompiledGrower,
        "grow",
        lambda self, level, report: grown.append(len(level)) or original(self, level, report),
    )
    assert len(Lattice(naive_bayes(14))) == 2**14
    assert grown
    grown.clear()
    Lattice(naive_bayes(6))
    assert not grown


def test_lattices_are_shared_by_evidence_set():
    problem = load_problem("asia")
    first = Lattice(problem, {"smoke": "yes"})
    second = Lattice(problem.with_expected("symmetric", 7), ["smoke"])
    assert first._levels is second._levels
    assert first._levels is not Lattice(problem, ["xray"])._levels


def test_the_cache_forgets_what_does_not_fit():
    cache = growth._Cache(100)
    level = np.zeros((5, 1), dtype=np.uint64)  # 40 bytes
    for key in "abc":
        cache.put(key, (level,))
    assert cache.get("a") is None
    assert cache.get("b") is not None
    cache.put("d", (level,))  # b was used last
    assert cache.get("c") is None
    assert cache.get("b") is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_the_node_budget_says_how_far_it_came(engine):
    with pytest.raises(TooLargeError) as caught:
        Lattice(naive_bayes(10), max_nodes=200, engine=engine)
    message = str(caught.value)
    assert "more than 200 irreducible sets: 176 have up to 3 features" in message
    assert "at most 3 (max_size)" in message
    assert len(Lattice(naive_bayes(10), max_nodes=1024, engine=engine)) == 1024


def test_a_lattice_in_the_cache_still_keeps_the_budget():
    assert len(Lattice(naive_bayes(5))) == 32
    with pytest.raises(TooLargeError):
        Lattice(naive_bayes(5), max_nodes=31)


@pytest.mark.parametrize("engine", ENGINES)
def test_progress_is_told_and_an_interrupt_leaves_nothing_behind(engine):
    seen = []
    Lattice(naive_bayes(8), engine=engine, progress=lambda size, n: seen.append((size, n)))
    assert seen[-1] == (9, 256)
    assert seen == sorted(seen)

    def interrupt(size, n):
        if size == 4:
            raise KeyboardInterrupt

    problem = naive_bayes(9)
    with pytest.raises(KeyboardInterrupt):
        Lattice(problem, engine=engine, progress=interrupt)
    assert growth._cache.get((graph_of(problem), 0, None)) is None
    assert len(Lattice(problem)) == 512


def test_growing_takes_few_bytes_a_set():
    problem = naive_bayes(17)
    Lattice(naive_bayes(3), engine="compiled")  # load the engine
    tracemalloc.start()
    v = Lattice(problem, engine="compiled")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    portion = 8 * growth.FLOODS_AT_ONCE  # what one call of the kernel may write
    assert peak - portion <= 100 * len(v)


def test_a_cut_lattice_knows_no_roots_among_its_largest_sets():
    problem = load_problem("figure3")
    cut = Lattice(problem, max_size=2)
    assert cut.is_cut
    assert cut.roots == []
    assert repr(cut) == "<Lattice: 7 irreducible sets of at most 2 features>"
    whole = Lattice(problem, max_size=4)
    assert not whole.is_cut
    assert len(whole.roots) == 2
    assert list(whole.level(9)) == []


def test_a_large_lattice_is_not_given_to_networkx(monkeypatch):
    monkeypatch.setattr(lattice, "MAX_NETWORKX", 8)
    with pytest.raises(TooLargeError, match="9 sets; networkx would need gigabytes"):
        Lattice(load_problem("figure3")).to_networkx()


def test_what_is_not_a_node_is_named():
    v = Lattice(load_problem("figure3"))
    with pytest.raises(UnknownNameError, match=r"\{X1, X2\} is not in the lattice: it is not irr"):
        v.direct_subsets({"X1", "X2"})
    with pytest.raises(UnknownNameError, match="it has more than 1 features"):
        Lattice(v.problem, max_size=1).direct_subsets({"X1", "X3"})
    with pytest.raises(UnknownNameError, match="X3 is known"):
        Lattice(v.problem, ["X3"]).direct_subsets({"X3"})
    for size in (-1, 2.5, "2"):
        with pytest.raises(InputError, match="max_size must be a whole number >= 0, got"):
            Lattice(v.problem, max_size=size)
    assert {"X9"} not in v
    assert "X1" not in v
    with pytest.raises(UnknownNameError, match="engine must be one of auto, python, compiled"):
        Lattice(load_problem("figure3"), engine="fortran")


def test_as_a_networkx_graph():
    graph = Lattice(load_problem("figure3")).to_networkx()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (9, 12)
    assert networkx.is_directed_acyclic_graph(graph)
    assert graph.nodes[frozenset({"X1"})]["size"] == 1


@needs_data
@pytest.mark.parametrize(("name", "target"), [("alarm", "LVFAILURE"), ("hepar2", "Cirrhosis")])
def test_public_networks_have_lattices(name, target):
    network = read_network(DATA / "networks" / f"{name}.bif")
    features = [node for node in network.names if node != target]
    problem = Problem.create(
        network, target, dict.fromkeys(features, 1.0), ("symmetric", 1), features=features
    )
    v = Lattice(problem, max_size=3)
    assert max(map(len, v)) == 3
    brute = BruteForce(problem)
    rng = np.random.default_rng(3)
    grown = list(v)
    for size in (1, 2, 3) * 60:
        s = frozenset(str(f) for f in rng.choice(features, size, replace=False))
        assert (s in v) == brute.is_irreducible(s)
        assert brute.is_irreducible(grown[int(rng.integers(len(grown)))])


@pytest.mark.parametrize("seed", range(30))
def test_the_feasible_sets_are_those_that_can_be_acquired_one_by_one(seed):
    problem = rich_problem(seed, ("constraints",))
    lattice = Lattice(problem)
    rules = problem.feasibility
    assert lattice.feasible.tolist() == [
        rules.is_feasible(problem.feature_mask(s), problem.evidence) for s in lattice
    ]


def test_which_sets_are_feasible_depends_on_states():
    problem = ward()
    found = {
        state: Lattice(problem, {"consent": state, "xray": "clear"})
        for state in ("given", "declined")
    }
    assert list(found["given"]) == list(found["declined"])
    assert found["given"].feasible.all()
    assert not found["declined"].feasible.all()
    assert Lattice(problem, ["consent"]).feasible is None  # names alone do not tell
    assert Lattice(load_problem("asia"), ["smoke"]).feasible.all()
