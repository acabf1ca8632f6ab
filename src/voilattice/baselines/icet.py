r"""ICET: a search for the biases that make EG2 grow a cheap tree (Turney, 1995).

Paper: P. D. Turney, Cost-sensitive classification: empirical evaluation of a hybrid genetic
decision tree induction algorithm, JAIR 2 (1995), sections 3.5 and 5.

EG2 looks at the price of a feature, but not at what errors cost. ICET lets evolution do that. An
individual is a bias: a pseudo-price C_i for each feature, the strength ω in [0, 1], and the
confidence CF of the pruning. Its fitness is measured on a part of the rows: EG2 grows a tree on the
others, by the pseudo-prices, and the fitness is what the cases cost on average,

    real prices of what is bought + real costs c_ij of decisions.

The best individual grows the final tree on all rows. There are 50 individuals and 1,000 trials;
part of the first generation has the real prices (Turney found that this improves the search).

Departures. The search is differential evolution (SciPy), where Turney had the bit strings of
GENESIS. Turney draws half of the rows anew for each individual; here two biases are compared on the
same cases: a quarter of the rows, drawn evenly by class, twice or, if the table is small, up to
eight times. From half of the rows a CF makes a smaller tree than from all of them, so a bias that
was cheap there could be dear in the end. Turney's CF is at least 1 %, which leaves tests in the
tree that nobody should pay for where features are dear; here CF = g³ with the gene g in [0, 1], so
that pruning may leave the root alone. A leaf decides by the least expected cost
(`cost_trees`). Gains of thresholds are not corrected for their number (`tree_growth`): the search
finds a CF for that.
"""

from __future__ import annotations

import numpy as np

from voilattice.baselines.coding import code_by_rank
from voilattice.baselines.interface import Baseline
from voilattice.baselines.tree_decider import TreeDecider
from voilattice.baselines.tree_growth import (
    EG2,
    Rows,
    Table,
    find_deviations,
    find_twin,
    make_bias,
    price_features,
    sort_rows,
)
from voilattice.compiled.arrays import TreeStakes
from voilattice.learning.data_tables import DataTable
from voilattice.learning.rivals import Decider, Question

__all__ = ["ICET"]

N_INDIVIDUALS = 50
N_TRIALS = 1_000
SHARE_SEEDED = 0.2  # of the first generation: with the real prices
ONE_IN = 4  # rows is not grown from
MIN_SPLITS, MAX_SPLITS = 2, 8
MAX_CELLS = 20_000  # rows x features x splits, above which there are only the fewest splits
POWER = 3  # of the gene for the confidence: most of its values are small


class ICET(Baseline):
    """Turney's tree: EG2 with the biases that pay on new cases."""

    name = "ICET"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        from scipy.optimize import differential_evolution

        coding = code_by_rank(table, question)
        cases = coding.cases(table, question)
        n = len(coding.features)
        prices, after = price_features(question, table, coding.reader)
        shares = np.bincount(cases.classes, minlength=cases.n_classes) / table.n_rows
        stakes = TreeStakes(prices, after, np.ascontiguousarray(question.cost), shares)
        # A pseudo-price is the same, whatever is known.
        bias = make_bias(EG2, prices, np.full((n, n), np.inf), is_corrected=False)
        random = np.random.default_rng(seed)
        n_splits = int(np.clip(MAX_CELLS // max(cases.codes.size, 1), MIN_SPLITS, MAX_SPLITS))
        splits = [deal(cases.classes, random) for _ in range(n_splits)]
        orders = np.stack([sort_rows(cases, inside) for inside, _ in splits])
        outside = np.stack([rows for _, rows in splits])
        twin = find_twin("auto", cases.codes.size * n_splits * N_TRIALS)

        def fitness(individuals: Table) -> Table:
            genes = individuals.T
            prices, strengths, confidences = map(
                np.ascontiguousarray, (genes[:, :n], genes[:, n], genes[:, n + 1] ** POWER)
            )
            found: Table = twin.try_biases(
                cases, orders, outside, bias,
                prices, strengths, confidences, find_deviations(confidences), stakes,
            )  # fmt: skip
            return found

        highest = max(float(prices.max(initial=0.0)), 1.0)
        bounds = [*([(0.0, highest)] * n), (0.0, 1.0), (0.0, 1.0)]
        found = differential_evolution(
            fitness, bounds, init=first_generation(prices, bounds, random),
            maxiter=N_TRIALS // N_INDIVIDUALS - 1, tol=0.0, polish=False,
            vectorized=True, updating="deferred", rng=random,
        ).x  # fmt: skip
        best = make_bias(
            EG2,
            found[:n],
            bias.after,
            float(found[n]),
            float(found[n + 1]) ** POWER,
            is_corrected=False,
        )
        everything = sort_rows(cases, np.arange(table.n_rows, dtype=np.int32))
        return TreeDecider(question, coding, twin.grow(cases, everything, best), shares)


def first_generation(
    prices: Table, bounds: list[tuple[float, float]], random: np.random.Generator
) -> Table:
    """Return individuals at random, some of them with the real prices.

    The first one is EG2 as it is.
    """
    low, high = np.array(bounds).T
    found = random.uniform(low, high, (N_INDIVIDUALS, len(bounds)))
    n_seeded = round(SHARE_SEEDED * N_INDIVIDUALS)
    found[:n_seeded, : len(prices)] = prices
    found[0, len(prices) :] = 1.0, 0.25 ** (1 / POWER)
    return found


def deal(classes: Rows, random: np.random.Generator) -> tuple[Rows, Rows]:
    """Return the rows to grow a tree from, and the others, at random and evenly by class."""
    order = random.permutation(len(classes)).astype(np.int32)
    order = order[np.argsort(classes[order], kind="stable")]
    is_outside = np.arange(len(order)) % ONE_IN == ONE_IN - 1
    return np.sort(order[~is_outside]), np.sort(order[is_outside])
