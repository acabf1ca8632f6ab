"""Errors keep their class, their place and their remedies wherever they go."""

import pickle

import pytest

from voilattice.errors import Remedy, TooLargeError, UnknownNameError, located, within
from voilattice.wording import count_noun

REMEDIES = (Remedy("raise the budget", "max_nodes"), Remedy("choose fewer features"))


def test_places_and_remedies_travel_with_the_error():
    with pytest.raises(TooLargeError) as caught, within("p.toml"), located("costs"):
        raise TooLargeError("too many", "chol", REMEDIES)
    assert str(caught.value) == (
        "p.toml: costs.chol: too many; raise the budget (max_nodes), or choose fewer features"
    )


def test_an_error_is_the_same_after_a_pipe():
    error = pickle.loads(pickle.dumps(TooLargeError("too many", "chol", REMEDIES)))
    assert type(error) is TooLargeError
    assert (error.message, error.place, error.remedies) == ("too many", "chol", REMEDIES)


def test_parameters_have_other_names_elsewhere():
    error = UnknownNameError("no column 'x'", "target", REMEDIES)
    assert error.describe({"target": "--target"}.get) == (
        "--target: no column 'x'; choose fewer features"
    )


def test_counts_have_the_right_number():
    assert [count_noun(n, "node") for n in (0, 1, 1200)] == ["0 nodes", "1 node", "1,200 nodes"]


def test_a_repr_counts_in_the_right_number():
    from voilattice import ConditionalCost, FeatureCosts, load_problem

    costs = FeatureCosts({"a": 1, "b": 2}, (), (ConditionalCost("a", (("b", "T"),), 0.5),))
    assert repr(costs) == "<FeatureCosts: 2 prices, 0 groups, 1 conditional price>"
    assert "1 group," in repr(load_problem("asia").costs)
