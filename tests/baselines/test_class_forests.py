from itertools import product

import numpy as np
import pytest
from helpers.baselines import ask, code_table, draw_codes

from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.walks import NOT_THERE, UNKNOWN, code_cases
from voilattice.learning.recipes import NAMED


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["naive", "tree"])
def test_posteriors_and_joints_are_those_of_the_whole_joint_table(name, seed):
    rng = np.random.default_rng(seed)
    codes, classes = draw_codes(rng, 60, [2, 3, 2, 4], 2 + seed % 2, missing=0.1)
    table, question = ask(code_table(codes, classes), dict.fromkeys("abcd", 1), ("symmetric", 10))
    coding, cases = code_cases(table, question, NAMED[name])
    model = ClassForest.fit(cases, NAMED[name])
    whole = np.zeros((len(model.prior), *coding.n_states))
    for y, *x in product(*map(range, whole.shape)):
        p = model.prior[y]
        for k, t in enumerate(model.tables):
            p *= t[y, x[model.parents[k]] if model.parents[k] >= 0 else 0, x[k]]
        whole[y, *x] = p
    states = rng.integers(-2, [2, 3, 2, 4], (20, 4))
    assert {UNKNOWN, NOT_THERE} < set(states.ravel().tolist())
    posterior, joints = model.joints(states)
    assert model.posterior(states) == pytest.approx(posterior)
    for row, state in enumerate(states):
        held = whole
        for k, value in enumerate(state):
            if value >= 0:
                held = held * (np.arange(held.shape[k + 1]) == value).reshape(
                    [-1 if j == k + 1 else 1 for j in range(5)]
                )
        held = held / held.sum()
        assert posterior[row] == pytest.approx(held.sum(axis=(1, 2, 3, 4)))
        for k, joint in enumerate(joints):
            others = tuple(j + 1 for j in range(4) if j != k)
            assert joint[row] == pytest.approx(held.sum(axis=others))
    assert model.joints(states, [2])[1][0] == pytest.approx(joints[2])
