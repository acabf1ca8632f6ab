import itertools

import pytest
from helpers.problems import noisy_bayes
from helpers.strategies import problems
from helpers.ward import ward
from helpers.worlds import examples
from hypothesis import given

from voilattice import Lattice, load_problem
from voilattice.documents.sets import lattice_levels
from voilattice.errors import UnknownNameError
from voilattice.valuation.lattice_levels import top_by_level, way_to_the_best
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.valuation import value


@examples(50)
@given(problem=problems(max_features=5))
def test_each_level_has_its_best_sets(problem):
    values = value_lattice(problem)
    lattice = values.lattice
    for n in (1, 3, 99):
        for level in top_by_level(values, n):
            every = list(lattice.level(level.size))
            assert level.count == len(every)
            assert len(level.sets) == min(n, len(every))
            benefits = [v.benefit for v in level.sets]
            assert (
                benefits == sorted(benefits, reverse=True)
                or max(
                    abs(a - b)
                    for a, b in zip(benefits, sorted(benefits, reverse=True), strict=True)
                )
                < 1e-6
            )  # ties
            left = [s for s in every if s not in {v.features for v in level.sets}]
            most = max((value(problem, s).benefit for s in left), default=-1e9)
            assert min(benefits) >= most - 1e-6


@examples(40)
@given(problem=problems(max_features=5))
def test_the_way_goes_down_one_feature_at_a_time(problem):
    values = value_lattice(problem)
    way = way_to_the_best(values)
    assert way[0] == values.top(1)[0].features
    assert way[-1] == frozenset()
    for larger, smaller in itertools.pairwise(way):
        assert smaller < larger
        assert smaller in values.lattice.direct_subsets(larger)
    shown = {v.features for level in top_by_level(values, 1, with_way=True) for v in level.sets}
    assert set(way) <= shown


def test_a_filter_keeps_the_sets_with_all_of_some_features():
    values = value_lattice(load_problem("heart"))
    for level in top_by_level(values, 4, ["cp", "thal"]):
        assert all({"cp", "thal"} <= v.features for v in level.sets)
        wanted = [s for s in values.lattice.level(level.size) if {"cp", "thal"} <= s]
        assert level.count == len(wanted)
    with pytest.raises(UnknownNameError, match="containing: no feature 'xp'"):
        top_by_level(values, 4, ["xp"])


def test_the_document_has_rows_with_and_without_values():
    lattice = Lattice(ward())
    rows = list(lattice_levels(lattice, value_lattice(ward(), lattice=lattice), top=2))
    assert [row["size"] for row in rows] == list(range(len(lattice.level_sizes)))
    assert sum(s["best"] for row in rows for s in row["sets"]) == 1
    (first, *_) = lattice_levels(lattice, None, top=2, containing=["biopsy"])
    assert first["sets"][0]["features"] == ["biopsy"]
    assert (first["sets"][0]["evi"], first["sets"][0]["feasible"]) == (None, False)


def test_a_lattice_of_thousands_of_sets_has_few_on_the_page():
    values = value_lattice(noisy_bayes(12))
    rows = top_by_level(values, 3)
    assert sum(level.count for level in rows) == 4096
    assert max(len(level.sets) for level in rows) == 3
