r"""Tables trained for the question that a policy asks: P(y | some of the features).

Counts describe how features and target occur together. A policy asks something else: the target,
given what is known so far, for many sets S of known features. So an augmented naive Bayes network
(`augmented`) is trained to answer exactly that. With P(x_i | y, u) = softmax_x θ_i(y, u, x),

    maximize   Σ_cases Σ_S w_S log P(y | x_S)  -  ½ Σ_i pull_i |θ_i - θ⁰_i|².

The sets S are drawn at random for each case, their sizes evenly from 1 to all features; the set of
all features is always among them. θ⁰ are the logits of the tables to start from. The *pull* keeps
the network near these tables, which also say how likely each result of a feature is; without it,
few cases are learned by heart. A table P(x_i | y, u) of many cells has many ways to do that, so its
pull grows with the number of its cells: pull_i = pull n_u n_x / 4.

The gradient. Let b(u, x) = P(x_pa = u, x_i = x | y', x_S), from one pass over the forest up and one
down. Then

    ∂ log P(y | x_S) / ∂ θ_i(y', u, x)
        = (1[y' = y] - P(y' | x_S)) (b(u, x) - P(x | y', u) Σ_x' b(u, x')),

and L-BFGS (SciPy) climbs it. A missing cell is a feature that S does not have. P(y) is not
trained: it stays the share of the classes.

Errors do not cost the same in every class. If a case counts for what is at stake in its class, the
network answers best where the decisions are dear. Then the P(y) of the questions differs from the
P(y) of the network. P(x | y) does not depend on either, so the trained tables serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voilattice.engines import choose_engine
from voilattice.learning.augmented import LEAST_PROBABILITY, Augmented, Table
from voilattice.learning.cells import Codes

__all__ = ["Forest", "Questions", "ask_questions", "pass_forest", "score_answers", "train"]

N_SETS = 6  # drawn for each case
SHARE_OF_ALL = 0.2  # of the weight of a case, for the set of all features
MAX_QUESTIONS = 15_000  # more cases have fewer sets, or are drawn themselves
MAX_STEPS = 50  # of L-BFGS


class Forest(NamedTuple):
    """The shape of an augmented naive Bayes network, in arrays.

    All tables lie in one flat array: P(x_i | y, u) at ``starts[i] + (y n_u + u) n_x + x``.
    """

    parents: NDArray[np.int64]  # of each feature; -1: none
    order: NDArray[np.int64]  # the features, each after its parent
    starts: NDArray[np.int64]
    n_above: NDArray[np.int64]  # the number of values of u
    sizes: NDArray[np.int64]  # the number of values of x_i


class Questions(NamedTuple):
    """What is known of each case, what its class is, and how much the answer counts."""

    known: NDArray[np.int64]  # the number of the state of each feature; -1: not known
    classes: NDArray[np.int64]
    weights: Table


def train(
    start: Augmented,
    codes: Sequence[Codes],
    classes: Codes,
    weights: Table,
    pull: float,
    *,
    seed: int = 0,
    engine: str = "auto",
) -> Augmented:
    """Return the network with trained tables.

    Parameters
    ----------
    start
        The network that the training begins with, and that it is pulled towards.
    codes, classes, weights
        A column of states for each feature, the class of each case, and what each case counts for.
    pull
        How strongly, for a table of two times two cells for each class.
    """
    from scipy.optimize import minimize

    forest = _shape(start)
    questions = ask_questions(codes, classes, weights, np.random.default_rng(seed))
    tables = np.concatenate([table.ravel() for table in start.tables])
    first = np.log(tables)
    # Cases may count for what is at stake in their class, so the prior of the questions is theirs.
    prior = np.bincount(classes, weights, len(start.prior)).astype(np.float64) + 1.0
    prior /= prior.sum()
    work = len(questions.classes) * len(tables) * MAX_STEPS
    twin = score_answers if choose_engine(engine, "training", work) == "python" else _compiled()

    sizes = forest.n_above * forest.sizes
    pulls = np.repeat(pull * sizes / 4.0, len(prior) * sizes)

    def climb(logits: Table) -> tuple[float, Table]:
        loss, slope = twin(forest, questions, _tables(forest, logits), prior)
        moved = logits - first
        return loss + 0.5 * float(pulls * moved @ moved), slope + pulls * moved

    found = minimize(climb, first, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS}).x
    flat = _tables(forest, found)
    shaped = [
        flat[at : at + table.size].reshape(table.shape)
        for at, table in zip(forest.starts, start.tables, strict=True)
    ]
    floored = [np.maximum(table, LEAST_PROBABILITY) for table in shaped]
    return Augmented(
        start.prior,
        start.parents,
        tuple(table / table.sum(axis=-1, keepdims=True) for table in floored),
    )


def ask_questions(
    codes: Sequence[Codes], classes: Codes, weights: Table, random: np.random.Generator
) -> Questions:
    """Return the cases with all features known, and again with random sets of them."""
    cases = np.stack(codes, axis=1).astype(np.int64)
    n, n_features = cases.shape
    if n > MAX_QUESTIONS:
        drawn = np.sort(random.choice(n, MAX_QUESTIONS, replace=False))
        cases, classes = cases[drawn], classes[drawn]
        weights, n = weights[drawn] * (n / MAX_QUESTIONS), MAX_QUESTIONS
    n_sets = min(N_SETS, max(MAX_QUESTIONS // n - 1, 1))
    known, shares = [cases], [SHARE_OF_ALL * weights]
    for _ in range(n_sets):
        rank = random.random((n, n_features)).argsort(axis=1).argsort(axis=1)
        size = random.integers(1, n_features + 1, n)
        known.append(np.where(rank < size[:, None], cases, -1))
        shares.append((1 - SHARE_OF_ALL) / n_sets * weights)
    return Questions(
        np.concatenate(known),
        np.tile(classes.astype(np.int64), n_sets + 1),
        np.concatenate(shares),
    )


def score_answers(
    forest: Forest, questions: Questions, tables: Table, prior: Table
) -> tuple[float, Table]:
    """Return -Σ w log P(y | x_S), and its gradient by the logits of the tables."""
    joint, beliefs = pass_forest(forest, questions.known, tables, prior)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    rows = np.arange(len(posterior))
    answered = posterior[rows, questions.classes]
    loss = -float(questions.weights @ np.log(np.maximum(answered, 1e-300)))
    error = posterior * questions.weights[:, None]
    error[rows, questions.classes] -= questions.weights
    slope = np.empty_like(tables)
    for i, belief in enumerate(beliefs):
        above = belief.sum(axis=-1, keepdims=True)
        p = _table(forest, tables, i, len(prior))
        slope_here = np.einsum("ry,ryux->yux", error, belief - p * above)
        slope[forest.starts[i] : forest.starts[i] + p.size] = slope_here.ravel()
    return loss, slope


def pass_forest(
    forest: Forest, known: NDArray[np.int64], tables: Table, prior: Table
) -> tuple[Table, list[Table]]:
    """Return P(y, x_S) of each row, and for each feature P(u, x_i | y, x_S)."""
    n_rows, n_features = known.shape
    n_classes = len(prior)
    likely = []  # of each value of a feature: 1 if it may be so, times what the features below say
    for i in range(n_features):
        states = np.arange(forest.sizes[i])
        fits = (known[:, i, None] < 0) | (known[:, i, None] == states)
        likely.append(np.repeat(fits[:, None, :].astype(np.float64), n_classes, axis=1))
    upward: list[Table] = [np.empty(0)] * n_features
    joint = np.repeat(prior[None, :], n_rows, axis=0)
    for i in forest.order[::-1].tolist():
        upward[i] = np.einsum("yux,ryx->ryu", _table(forest, tables, i, n_classes), likely[i])
        if (p := int(forest.parents[i])) < 0:
            joint = joint * upward[i][:, :, 0]
        else:
            likely[p] = likely[p] * upward[i]
    beliefs: list[Table] = [np.empty(0)] * n_features
    for i in forest.order.tolist():
        if (p := int(forest.parents[i])) < 0:
            downward = np.ones((n_rows, n_classes, 1))
        else:
            above = beliefs[p].sum(axis=2)
            downward = np.divide(above, upward[i], out=np.zeros_like(above), where=upward[i] > 0)
        belief = (
            downward[..., None] * _table(forest, tables, i, n_classes) * likely[i][:, :, None, :]
        )
        total = belief.sum(axis=(2, 3), keepdims=True)
        beliefs[i] = np.divide(belief, total, out=np.zeros_like(belief), where=total > 0)
    return joint, beliefs


def _compiled() -> Callable[[Forest, Questions, Table, Table], tuple[float, Table]]:
    from voilattice.compiled.training import score_answers as compiled

    return compiled


def _shape(network: Augmented) -> Forest:
    sizes = [table.size for table in network.tables]
    return Forest(
        np.array(network.parents, dtype=np.int64),
        np.array(network.order, dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64),
        np.array([table.shape[1] for table in network.tables], dtype=np.int64),
        np.array([table.shape[2] for table in network.tables], dtype=np.int64),
    )


def _table(forest: Forest, tables: Table, i: int, n_classes: int) -> Table:
    """Return P(x_i | y, u) with its axes y, u, x."""
    shape = (n_classes, int(forest.n_above[i]), int(forest.sizes[i]))
    start = int(forest.starts[i])
    return tables[start : start + int(np.prod(shape))].reshape(shape)


def _tables(forest: Forest, logits: Table) -> Table:
    """Return the tables of some logits."""
    found = np.empty_like(logits)
    ends = np.append(forest.starts[1:], len(logits))
    for start, end, size in zip(forest.starts, ends, forest.sizes, strict=True):
        found[start:end] = _softmax(logits[start:end].reshape(-1, size)).ravel()
    return found


def _softmax(logits: Table) -> Table:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    normalized: Table = powers / powers.sum(axis=-1, keepdims=True)
    return normalized
