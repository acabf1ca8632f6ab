r"""Greedy dynamic feature selection: the most information about the class for its price.

The next feature is the one with the highest conditional mutual information I(y; X_i | x_S) for its
price, given the values x_S of the features that are known. No distribution of the features is
learned. Two networks answer everything, and both are trained on cases in which random features are
hidden (*masked*):

- a classifier f(x_S) estimates P(y | x_S) for any set S of known features;
- a value network v(x_S) estimates for each feature what knowing it too would take off the log loss.
  It is trained on the differences

      log f_y(x_S, x_i) - log f_y(x_S)

  of training cases (x, y). Their mean over the cases that look like x_S is
  E[log P(y | x_S, x_i) - log P(y | x_S)] = I(y; X_i | x_S) where f is right, and the mean is what a
  network finds that is trained by squares.

A case buys while some feature tells more than σ for each unit of money and its expected
misclassification cost is above τ; cross-validated total cost chooses σ and τ (`walks`).

Covert, Qiu, Lu, Kim, White, Lee, "Learning to maximize mutual information for dynamic feature
selection", ICML 2023 (greedy policy, masked training). Gadgil, Covert, Lee, "Estimating conditional
mutual information for dynamic feature selection", ICLR 2024 (value network, prices). Ma et al.,
"EDDI", ICML 2019 (the same greedy rule from a generative model). The networks here are those of
scikit-learn, with one small hidden layer: these tables have hundreds of rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.interface import Baseline
from voilattice.baselines.walks import (
    UNKNOWN,
    Offer,
    StateCoding,
    Walker,
    code_cases,
    divide_by_prices,
    learn_walker,
)
from voilattice.learning.data_tables import DataTable
from voilattice.learning.recipes import Recipe
from voilattice.learning.rivals import Decided, Decider, Question

__all__ = ["GreedyInformation"]

RECIPE = Recipe(structure="naive", max_bins=4)
N_MASKED = 10_000  # masked cases to train on, about
MAX_COPIES = 20  # of a case
N_HIDDEN = 16
N_EPOCHS = 12
DECAY = 200.0  # of the weights, in cases: few cases need a stronger one
LEAST_PROBABILITY = 1e-3  # in the log loss: one rare mistake must not rule the squares

Codes = NDArray[np.intp]
Table = NDArray[np.float64]


class GreedyInformation(Baseline):
    """Buy the most conditional mutual information for its price: Covert et al. (2023)."""

    name = "greedy information"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        from threadpoolctl import threadpool_limits

        def learn(inside: DataTable) -> Walker | None:
            if (found := code_cases(inside, question, RECIPE)) is None:
                return None
            coding, cases = found
            codes = np.stack([cases.codes[name] for name in coding.features], axis=1)
            chooser = _train(codes, cases.codes[question.target], coding, question, seed)
            return Walker(question, coding, chooser)

        with threadpool_limits(1):
            return _OneThread(learn_walker(table, question, seed, learn, is_tuned=True))


@dataclass(frozen=True, slots=True)
class _OneThread:
    """Decides in one thread: sums of several threads differ in their last digits."""

    decider: Decider

    def decide(self, table: DataTable) -> Decided:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return self.decider.decide(table)


def _train(
    codes: Codes, classes: Codes, coding: StateCoding, question: Question, seed: int
) -> _Chooser:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    random = np.random.default_rng(seed)
    n_copies = int(np.clip(N_MASKED // len(codes), 1, MAX_COPIES))
    rows = np.repeat(np.arange(len(codes)), n_copies)
    masked = hide(codes[rows], random)
    settings: dict[str, Any] = {
        "hidden_layer_sizes": (N_HIDDEN,),
        "alpha": DECAY / len(codes),
        "max_iter": N_EPOCHS,
        "batch_size": min(128, len(rows)),
        "learning_rate_init": 3e-3,
        "random_state": seed,
    }
    classifier = _Classifier(coding, len(question.classes), MLPClassifier(**settings))
    value = MLPRegressor(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fit has not converged: its epochs are fixed
        classifier.model.fit(encode(masked, coding), classes[rows])
        gains = _measure_gains(classifier, masked, codes[rows], classes[rows])
        scale = float(gains.std()) or 1.0
        value.fit(encode(masked, coding), gains / scale)
    return _Chooser(classifier, value, scale)


def _measure_gains(classifier: _Classifier, masked: Codes, codes: Codes, classes: Codes) -> Table:
    """Return what each feature takes off the log loss of each masked case; 0 if it is known."""
    rows = np.arange(len(masked))
    before = classifier.log_posterior(masked)[rows, classes]
    gains = np.zeros(masked.shape)
    for k in range(masked.shape[1]):
        new = (masked[:, k] == UNKNOWN) & (codes[:, k] >= 0)
        shown = masked[new]
        shown[:, k] = codes[new, k]
        if len(shown):
            after = classifier.log_posterior(shown)[rows[: len(shown)], classes[new]]
            gains[new, k] = after - before[new]
    return gains


def hide(codes: Codes, random: np.random.Generator) -> Codes:
    """Return cases of which a random set of features is known, small sets more often."""
    n, d = codes.shape
    n_known = np.floor((d + 1) * random.random(n) ** 2)
    places = random.random((n, d)).argsort(axis=1).argsort(axis=1)
    return np.where(places < n_known[:, None], np.maximum(codes, UNKNOWN), UNKNOWN)


def encode(codes: Codes, coding: StateCoding) -> Table:
    """Return the inputs of the networks: above which cut a value lies, or which category it is.

    The inputs of a feature are 1 and -1, or all 0 if it is not known.
    """
    columns = []
    for k, (name, n) in enumerate(zip(coding.features, coding.n_states, strict=True)):
        code = codes[:, [k]]
        says = code > np.arange(n - 1) if name in coding.cuts else code == np.arange(n)
        columns.append(np.where(code < 0, 0.0, np.where(says, 1.0, -1.0)))
    return np.concatenate(columns, axis=1)


@dataclass(frozen=True, slots=True)
class _Classifier:
    coding: StateCoding
    n_classes: int
    model: Any

    def posterior(self, states: Codes) -> Table:
        """Return P(y | x_S); classes without a training case have none."""
        found = np.zeros((len(states), self.n_classes))
        found[:, self.model.classes_] = self.model.predict_proba(encode(states, self.coding))
        return found

    def log_posterior(self, states: Codes) -> Table:
        found: Table = np.log(np.maximum(self.posterior(states), LEAST_PROBABILITY))
        return found


@dataclass(frozen=True, slots=True)
class _Chooser:
    classifier: _Classifier
    value: Any
    scale: float

    def offer(self, states: Codes, prices: Table) -> Offer:
        posterior = self.classifier.posterior(states)
        return Offer(*divide_by_prices(self.gains(states), prices), posterior)

    def gains(self, states: Codes) -> Table:
        """Return the estimates of I(y; X_i | x_S): [row, feature]."""
        found = self.value.predict(encode(states, self.classifier.coding))
        return self.scale * np.asarray(found).reshape(states.shape)
