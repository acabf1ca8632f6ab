"""The classifiers that people use are the rivals, with budgets that are shares of all prices."""

import numpy as np
import pytest
from helpers.clinic import COSTS, STAKES, draw_clinic

from voilattice.baselines import BASELINES
from voilattice.learning.evaluation import ask_question
from voilattice.learning.rivals import PrunedTree, make_rivals

RIVALS = {
    "at once": 0,
    "tree by cost": 1,
    "logistic regression": 2,
    "logistic regression 1/4": 3,
    "logistic regression 1/2": 4,
    "gradient boosting": 5,
    "gradient boosting 1/4": 6,
    "gradient boosting 1/2": 7,
}


@pytest.fixture(scope="module")
def clinic():
    table = draw_clinic(150)
    return table, ask_question(table, "ill", COSTS, STAKES)[0]


@pytest.mark.parametrize("name", RIVALS)
def test_a_baseline_decides_as_the_rival_does(name, clinic):
    table, question = clinic
    rival = make_rivals(question)[RIVALS[name]]
    mine = BASELINES[name]().learn(table, question, 0).decide(table)
    theirs = rival.learn(table, question, 0).decide(table)
    assert (mine.decision == theirs.decision).all()
    assert (mine.feature_cost == theirs.feature_cost).all()


def test_a_tree_pruned_by_accuracy_does_not_see_the_stakes(clinic):
    table, question = clinic
    high, _ = ask_question(table, "ill", COSTS, ("symmetric", 1e6))
    trees = [PrunedTree(is_by_accuracy=True).learn(table, q, 0) for q in (question, high)]
    assert (trees[0].model.tree_.feature == trees[1].model.tree_.feature).all()
    assert np.array_equal(trees[0].decide(table).posterior, trees[1].decide(table).posterior)
