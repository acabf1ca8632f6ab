import numpy as np
import pytest

from voilattice import Network, VoilatticeError, load_problem
from voilattice.lattice.independence import is_separated
from voilattice.learning.data_tables import DataTable
from voilattice.learning.networks import Recipe, learn_network
from voilattice.model.elimination import joint_table
from voilattice.policy.application import apply_policy, draw_cases
from voilattice.policy.solvers import build_policy


def table(**columns):
    return DataTable({name: tuple(cells) for name, cells in columns.items()}, "0")


def drawn(network, n, seed=0):
    cases = draw_cases(network, n, np.random.default_rng(seed))
    return DataTable({name: tuple(column.tolist()) for name, column in cases.items()})


CHAIN = Network.from_tables(
    {"y": ["no", "yes"], "a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]},
    {"a": ["y"], "b": ["a"]},
    {
        "y": [0.6, 0.4],
        "a": [[0.8, 0.2], [0.1, 0.9]],
        "b": [[0.7, 0.3], [0.2, 0.8]],
        "c": [0.5, 0.5],
    },
)


@pytest.mark.parametrize("score", ["BIC", "BDeu", "K2", "AIC"])
def test_the_independences_of_a_chain_are_found(score):
    learned = learn_network(drawn(CHAIN, 4000), "y", Recipe(score=score))
    assert not is_separated(learned.network, ["y"], ["b"], [])
    if score in {"BIC", "BDeu"}:  # the others keep more arcs than the truth
        assert is_separated(learned.network, ["y"], ["b"], ["a"])
        assert is_separated(learned.network, ["y", "a", "b"], ["c"], [])


def test_learning_is_deterministic_and_close_to_the_truth():
    first, second = (learn_network(drawn(CHAIN, 4000), "y").network for _ in range(2))
    assert first == second
    prior = joint_table(first, [first.index("y")], {})
    assert prior == pytest.approx([0.6, 0.4], abs=0.03)


def test_parameters_are_smoothed_counts():
    data = table(y=["no"] * 6 + ["yes"] * 2, x=["a"] * 5 + ["b"] + ["b", "b"])
    recipe = Recipe(required=(("y", "x"),), smoothing=0.5)
    network = learn_network(data, "y", recipe).network
    assert network.parents[network.index("x")] == (network.index("y"),)
    assert network.tables[network.index("y")] == pytest.approx([6.5 / 9, 2.5 / 9], abs=1e-6)
    assert network.tables[network.index("x")] == pytest.approx(
        np.array([[5.5 / 7, 1.5 / 7], [0.5 / 3, 2.5 / 3]]), abs=1e-6
    )


@pytest.mark.parametrize("score", ["BIC", "BDeu", "K2", "AIC"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0, 3.0])
def test_the_score_adds_nothing_to_the_counts(score, smoothing):
    data = table(y=["a"] * 8 + ["b"] * 2, x=["0", "1"] * 5)
    network = learn_network(data, "y", Recipe(score=score, smoothing=smoothing)).network
    want = np.array([8, 2]) + smoothing
    assert joint_table(network, [network.index("y")], {}) == pytest.approx(
        want / want.sum(), abs=2e-6
    )


def test_rows_sum_to_one_and_have_six_decimals():
    learned = learn_network(drawn(CHAIN, 777), "y")
    for rows in learned.network.tables:
        assert rows.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
        assert rows == pytest.approx(np.round(rows, 6), abs=1e-15)


def test_restrictions_are_kept():
    data = drawn(CHAIN, 2000)
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


def test_columns_become_bins_or_states():
    rng = np.random.default_rng(0)
    dose = rng.normal(size=200).round(2)
    data = table(
        y=["ill" if d > 0 else "well" for d in dose],
        dose=[str(d) for d in dose],
        grade=[str(float(k)) for k in rng.integers(0, 3, 200)],
        ward=[f"w{k}" for k in rng.integers(0, 9, 200)],
    )
    learned = learn_network(data, "y", states={"y": ["well", "ill"]})
    states = dict(zip(learned.network.names, learned.network.states, strict=True))
    assert states["y"] == ("well", "ill")
    assert states["grade"] == ("0", "1", "2")
    assert states["ward"] == tuple(f"w{k}" for k in range(9))
    assert states["dose"][0].startswith("<")
    assert learned.cuts["dose"][0] == pytest.approx(0, abs=0.05)
    assert learn_network(data, "y", numeric=["grade"]).cuts["grade"]
    assert "dose" not in learn_network(data.select(["y", "grade"]), "y").cuts


def test_rows_without_a_target_are_left_out():
    learned = learn_network(table(y=["a", "b", None, "a"], x=["1", "2", "3", "2"]), "y")
    assert (learned.n_rows, learned.n_left_out) == (3, 1)
    assert learned.network.states[learned.network.index("x")] == ("1", "2")


def test_encoded_cases_can_be_followed_by_a_policy():
    from voilattice import Problem

    data = drawn(CHAIN, 300)
    learned = learn_network(data, "y")
    problem = Problem.create(learned.network, "y", dict.fromkeys("abc", 1.0), ("symmetric", 100.0))
    policy = build_policy(problem, "greedy-la")
    assert apply_policy(policy, learned.encode(data)).total_cost is not None
    with pytest.raises(VoilatticeError, match="a: row 1: no state '7'"):
        learned.encode(table(a=["7"]))


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"y": "aa", "x": "12"}, {}, "y: one value only, 'a': there is nothing to decide"),
        ({"y": "ab", "x": "11"}, {}, "x: one value only, '1': it can tell nothing; leave it out"),
        ({"y": "ab", "x": [None, None]}, {}, "x: no value at all: it can tell nothing"),
        ({"y": [None, None], "x": "12"}, {}, "y: every cell is missing"),
        ({"y": "ab"}, {}, "there is no column beside the target"),
        ({"z": "ab", "x": "12"}, {}, "target: no column 'y'"),
        ({"y": "ab", "x": "12"}, {"ignore": ["y"]}, "ignore: 'y' is the target"),
        ({"y": "ab", "x": "12"}, {"ignore": ["q"]}, "ignore: no column 'q'"),
        ({"y": "ab", "x": "1q"}, {"numeric": ["x"]}, "x: row 2: 'q' is not a number"),
        ({"y": "ab", "x": "12"}, {"states": {"x": ["1"]}}, "x: '2' is in the column but not"),
        ({"y": "aa", "x": "12"}, {"states": {"y": ["a", "b"]}}, "y: one value only, 'a'"),
        ({"y": "ab", "x": "11"}, {"states": {"x": ["1", "2"]}}, "x: one value only, '1'"),
        ({"y": "ab", "x": [None, None]}, {"states": {"x": ["1", "2"]}}, "x: no value at all"),
        (
            {"y": [str(k / 3) for k in range(60)], "x": "12" * 30},
            {},
            "y: 60 different values; a target of at most 50 classes is wanted",
        ),
        (
            {"y": "ab" * 4, "x": ["1", "2", "3", "4", "5", "6", "n.a.", "7"]},
            {},
            "x: most cells are numbers, but 'n.a.' is not (row 7)",
        ),
        (
            {"y": "ab" * 40, "x": [f"name{k}" for k in range(80)]},
            {},
            "x: 80 different values; at most 50 make states; leave the column out",
        ),
        (
            {"y": "ab" * 40, "x": [*map(str, range(79)), "none"]},
            {},
            "x: most cells are numbers, but 'none' is not (row 80): if it marks a missing cell",
        ),
    ],
)
def test_tables_that_teach_nothing_are_refused(columns, options, said):
    with pytest.raises(VoilatticeError) as error:
        learn_network(table(**columns), "y", **options)
    assert said in str(error.value)


def test_an_arc_into_a_target_without_parents_is_refused():
    recipe = Recipe(required=(("x", "y"),), target_first=True)
    with pytest.raises(VoilatticeError, match="required: an arc into y"):
        learn_network(table(y="aabb", x="1122"), "y", recipe)


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"forbidden": (("a", "b"),), "required": (("a", "b"),)}, "required: a -> b is forbidden"),
        ({"score": "BIG"}, "score: must be one of BIC, AIC, BDeu, K2, got 'BIG'"),
        ({"discretization": "x"}, "discretization: must be one of mdl, frequency"),
        ({"search": "x"}, "search: must be one of"),
        ({"bins": 1}, "bins: must be 2 to 50, got 1"),
        ({"forbidden": (("a", "a"),)}, "forbidden: an arc from a to itself"),
        (
            {"required": (("a", "c"), ("b", "c")), "max_parents": 1},
            "required: 2 arcs into c, but at most 1 parents",
        ),
        ({"max_parents": 0}, "max_parents: must be at least 1"),
        ({"smoothing": -1}, "smoothing: must be a number >= 0"),
        ({"smoothing": float("nan")}, "smoothing: must be a number >= 0"),
    ],
)
def test_recipes_are_checked(recipe, said):
    with pytest.raises(VoilatticeError, match=said):
        Recipe(**recipe)


def test_one_number_is_one_state_however_it_is_written():
    learned = learn_network(table(y="abab", x=["0.5", "0.50", "1.0", "1"]), "y")
    assert learned.network.states[learned.network.index("x")] == ("0.5", "1")
    wanted = {"x": ["1.0", "0.50"]}
    learned = learn_network(table(y="abab", x=["0.50", "0.50", "1.0", "1.0"]), "y", states=wanted)
    assert learned.network.states[learned.network.index("x")] == ("1.0", "0.50")
    huge = learn_network(table(y="abab", x=["1e300", "2", "1e300", "2"]), "y")
    assert huge.network.states[huge.network.index("x")] == ("2", "1e+300")


def test_a_column_of_names_may_hold_numbers_when_it_is_called_one():
    data = table(y="ab" * 4, x=["1", "2", "3", "4", "5", "6", "n.a.", "7"])
    learned = learn_network(data, "y", categorical=["x"])
    assert len(learned.network.states[learned.network.index("x")]) == 8


def test_without_smoothing_a_row_without_cases_is_refused():
    data = table(y="aabb", x="1122", z="1212")
    recipe = Recipe(required=(("x", "z"), ("y", "z")), smoothing=0.0)
    with pytest.raises(VoilatticeError, match="smoothing: with none, some row"):
        learn_network(data, "y", recipe)


def test_a_recipe_without_smoothing_allows_zeros():
    data = table(y="aabb", x="1122")
    network = learn_network(data, "y", Recipe(required=(("y", "x"),), smoothing=0.0)).network
    assert network.tables[network.index("x")].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_the_built_in_problems_are_not_degenerate():
    for name in ("liver", "diabetes", "heart", "hepatitis", "thyroid"):
        problem = load_problem(name)
        assert min(float(t.min()) for t in problem.network.tables) > 0  # smoothed
        assert problem.prior.min() > 0
