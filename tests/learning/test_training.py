import itertools

import numpy as np
import pytest
from helpers.forests import random_forest
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice.learning import training
from voilattice.learning.augmented import Augmented
from voilattice.learning.training import ask_questions, pass_forest, score_answers, train


def shaped(network):
    return training._shape(network), np.concatenate([t.ravel() for t in network.tables])


def joint(network):
    """Return P(y, x) over all assignments, by the definition."""
    sizes = [table.shape[2] for table in network.tables]
    found = np.zeros((len(network.prior), *sizes))
    for place in itertools.product(*map(range, found.shape)):
        y, x = place[0], place[1:]
        p = network.prior[y]
        for i, (parent, table) in enumerate(zip(network.parents, network.tables, strict=True)):
            p *= table[y, 0 if parent < 0 else x[parent], x[i]]
        found[place] = p
    return found


@settings(max_examples=25)
@given(st.integers(1, 4), st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_passes_give_the_joint_distribution_and_its_margins(n, n_classes, seed):
    network, codes, _ = random_forest(n, n_classes, seed=seed, n_cases=5)
    forest, tables = shaped(network)
    known = np.stack(codes, axis=1)
    found, beliefs = pass_forest(forest, known, tables, network.prior)
    everything = joint(network)
    for row, case in enumerate(known):
        here = everything[:, *(slice(None) if c < 0 else slice(c, c + 1) for c in case)]
        np.testing.assert_allclose(found[row], here.reshape(n_classes, -1).sum(axis=1))
        full = np.zeros_like(everything)
        full[:, *(slice(None) if c < 0 else slice(c, c + 1) for c in case)] = here
        for i, parent in enumerate(network.parents):
            keep = {0, i + 1} | ({parent + 1} if parent >= 0 else set())
            margin = full.sum(axis=tuple(a for a in range(full.ndim) if a not in keep))
            if parent < 0:
                margin = margin[:, None, :]
            elif parent > i:
                margin = margin.transpose(0, 2, 1)
            margin = margin / margin.sum(axis=(1, 2), keepdims=True)
            np.testing.assert_allclose(beliefs[i][row], margin, atol=1e-12)


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_gradient_is_that_of_the_loss(n, seed):
    network, codes, classes = random_forest(n, 2, seed=seed, n_cases=12)
    forest, tables = shaped(network)
    rng = np.random.default_rng(seed)
    questions = ask_questions(codes, classes, rng.random(12), rng)
    logits = np.log(tables) + 0.3 * rng.normal(size=len(tables))

    def loss(at):
        return score_answers(forest, questions, training._tables(forest, at), network.prior)

    slope = loss(logits)[1]
    for k in rng.integers(0, len(logits), 5):
        step = np.zeros(len(logits))
        step[k] = 1e-5
        numeric = (loss(logits + step)[0] - loss(logits - step)[0]) / 2e-5
        assert slope[k] == pytest.approx(numeric, abs=1e-5)


def test_training_raises_the_likelihood_of_the_answers_and_pull_holds_it_back():
    network, codes, classes = random_forest(4, 2, seed=3, n_cases=200)
    weights = np.ones(200)

    def loss(trained):
        forest, tables = shaped(trained)
        questions = ask_questions(codes, classes, weights, np.random.default_rng(0))
        counts = np.bincount(classes) + 1.0
        return score_answers(forest, questions, tables, counts / counts.sum())[0]

    free, held = (train(network, codes, classes, weights, pull) for pull in (0.1, 50.0))
    assert loss(free) < loss(held) < loss(network)

    def moved(trained):
        return sum(abs(a - b).sum() for a, b in zip(trained.tables, network.tables, strict=True))

    assert moved(held) < moved(free)
    assert free.parents == network.parents
    np.testing.assert_array_equal(free.prior, network.prior)


def test_questions_have_all_features_and_subsets_of_them():
    codes = [np.arange(50) % 3, np.arange(50) % 2, np.full(50, -1)]
    classes = np.zeros(50, dtype=int)
    found = ask_questions(codes, classes, np.full(50, 2.0), np.random.default_rng(1))
    cases = np.stack(codes, axis=1)
    assert (found.known[:50] == cases).all()
    again = np.tile(cases, (len(found.known) // 50, 1))
    assert ((found.known == again) | (found.known == -1)).all()
    assert found.weights.sum() == pytest.approx(100.0)


def test_many_cases_are_drawn_and_keep_their_weight(monkeypatch):
    monkeypatch.setattr(training, "MAX_QUESTIONS", 40)
    classes = np.zeros(100, dtype=int)
    found = ask_questions([np.arange(100) % 2], classes, np.ones(100), np.random.default_rng(0))
    assert len(found.classes) == 80
    assert found.weights.sum() == pytest.approx(100.0)


@pytest.mark.parametrize("pull", [1.0, 20.0])
def test_where_training_ends_the_gradient_and_the_pull_are_balanced(pull):
    network, codes, classes = random_forest(4, 3, seed=5, n_cases=30)
    weights = np.random.default_rng(1).random(30)
    trained = train(network, codes, classes, weights, pull, seed=7)
    forest, tables = shaped(trained)
    questions = ask_questions(codes, classes, weights, np.random.default_rng(7))
    prior = np.bincount(classes, weights, 3) + 1.0
    slope = score_answers(forest, questions, tables, prior / prior.sum())[1]
    for start, before, after in zip(forest.starts, network.tables, trained.tables, strict=True):
        moved = np.log(after / before)
        moved -= moved.mean(axis=-1, keepdims=True)  # the logits of a row are free up to a constant
        n_classes, n_above, n_states = after.shape
        pulled = pull * n_above * n_states / 4 * moved
        here = slope[start : start + after.size].reshape(n_classes, n_above, n_states)
        np.testing.assert_allclose(here, -pulled, atol=1e-4)


def test_no_probability_is_below_the_least_and_rows_still_add_up_to_one(monkeypatch):
    monkeypatch.setattr(training, "LEAST_PROBABILITY", 0.2)
    network, codes, classes = random_forest(3, 2, seed=1, n_cases=30)
    assert min(table.min() for table in network.tables) < 0.05
    for table in train(network, codes, classes, np.ones(30), 10.0).tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1.0)
        assert table.min() > 0.1


@pytest.mark.parametrize(("most", "n_sets"), [(10, 1), (50, 4), (1000, 6)])
def test_a_case_is_asked_about_as_often_as_there_is_room_for(monkeypatch, most, n_sets):
    monkeypatch.setattr(training, "MAX_QUESTIONS", most)
    classes = np.arange(10) % 2
    found = ask_questions([classes], classes, np.ones(10), np.random.default_rng(0))
    assert len(found.classes) == 10 * (1 + n_sets)
    assert found.weights.sum() == pytest.approx(10.0)


def test_the_sets_are_of_all_sizes_alike():
    codes, classes = [np.zeros(1000, dtype=int)] * 4, np.zeros(1000, dtype=int)
    found = ask_questions(codes, classes, np.ones(1000), np.random.default_rng(0))
    sizes = np.bincount((found.known[1000:] >= 0).sum(axis=1), minlength=5)
    assert sizes[0] == 0
    assert sizes[1:] == pytest.approx(sizes.sum() / 4, rel=0.1)


def test_what_is_impossible_in_a_class_has_no_belief_there():
    certain = np.array([[[1.0, 0.0]], [[0.5, 0.5]]])  # the second state occurs in the second class
    network = Augmented(np.array([0.5, 0.5]), (-1,), (certain,))
    forest, tables = shaped(network)
    found, beliefs = pass_forest(forest, np.array([[1]]), tables, network.prior)
    np.testing.assert_array_equal(found, [[0.0, 0.25]])
    np.testing.assert_array_equal(beliefs[0], [[[[0.0, 0.0]], [[0.0, 1.0]]]])
