"""P(Y, X | e) of every feature, by a join tree or by eliminations."""

import pytest

from voilattice import load_problem
from voilattice.errors import TooLargeError
from voilattice.valuation import pairs


def test_a_join_tree_that_does_not_fit_is_replaced_by_eliminations(monkeypatch):
    def too_large(*_):
        raise TooLargeError("the cliques are too large")

    asia = load_problem("asia")
    usual = pairs.PairInference(asia.network, asia.target, asia.features)
    monkeypatch.setattr(pairs, "JoinTree", too_large)
    bare = pairs.PairInference(asia.network, asia.target, asia.features)
    for known in ({}, {"smoke": "yes"}, {"smoke": "no", "xray": "yes"}):
        assert bare.at(known).belief == pytest.approx(usual.at(known).belief)
        assert bare.at(known).pairs == pytest.approx(usual.at(known).pairs)
