r"""Smooth tables: few parameters for many bins, so that few cases are enough.

Counts need many cases: a table P(x | y, u) of nine bins has a parameter for every bin, class and
bin of u. Here a table follows a model with few parameters, and the counts correct it as far as
there are cases to do so:

    P(x | y, u) = (n(y, u, x) + s m(x | y, u)) / (n(y, u) + s),

where m is the model and s its *strength*: the number of cases that it counts for.

**Numbers.** A column of numbers is ranked, and its ranks become *normal scores* z, the quantiles of
a standard normal distribution. So nothing depends on the unit, and outliers lose their pull. Given
the class, z is taken to be normal:

    z_i | y ~ N(μ_iy, σ_iy²),    and between two such columns, given y, a correlation ρ_ij

which all classes share. The probability of a bin is that of its interval of z. With equal σ for all
classes this is linear discriminant analysis over a forest: P(y | x) is a logistic regression.

**Names.** P(x | y) is counted, with some cases of P(x) added. A name u shifts the mean of a number
z by δ_u, the same for every class. The association of two columns of names is the same for every
class too (there is no interaction of three variables):

    m(x | y, u)  ∝  P(x | u) P(x | y) / P(x).

Then each m(. | y, u) is scaled, in a few rounds, until Σ_u P(u | y) m(x | y, u) = P(x | y): what
one feature alone says about the target does not depend on the forest.

Cells that are missing are left out of every mean and count they would be in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from voilattice.learning.augmented import (
    LEAST_PROBABILITY,
    Augmented,
    Table,
    count_pairs,
    span_forest,
)
from voilattice.learning.cells import Codes

__all__ = ["Feature", "fit_smooth"]

MAX_CORRELATION = 0.98
N_SLICES = 200  # a normal distribution is cut into so many slices of equal probability
N_ROUNDS = 5  # of scaling a table to its margin


@dataclass(frozen=True, slots=True)
class Feature:
    """A column: the number of the state in each case, -1 where it is missing.

    Parameters
    ----------
    values, cuts
        Of a column of numbers: its values, NaN where they are missing, and where it is cut.
    """

    codes: Codes
    n_states: int
    values: Table | None = None
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scores:
    """The normal scores of a column of numbers, and their distribution in each class."""

    z: Table  # NaN where a cell is missing
    limits: Table  # of the bins, as scores
    mean: Table
    deviation: Table
    residual: Table  # (z - mean) / deviation, given the class of the case


def fit_smooth(
    features: Sequence[Feature],
    classes: Codes,
    n_classes: int,
    weights: Table,
    strength: float,
    *,
    forest: bool = True,
) -> Augmented:
    """Return the augmented naive Bayes network with smooth tables.

    Parameters
    ----------
    classes
        The number of the class in each case.
    weights
        How many cases each case counts for.
    strength
        The number of cases that the model counts for, in each row of a table.
    forest
        Whether features may depend on each other, given the class.
    """
    prior = np.bincount(classes, weights, n_classes) + 1.0
    scores = [_score(f, classes, n_classes, weights, strength) for f in features]
    alone = [
        _fit_alone(f, score, classes, n_classes, weights, strength)
        for f, score in zip(features, scores, strict=True)
    ]
    parents = tuple([-1] * len(features))
    if forest:
        gains = [
            (_gain(features, scores, classes, n_classes, weights, i, j), i, j)
            for j, i in combinations(range(len(features)), 2)
        ]
        parents = span_forest(len(features), gains)
    tables = []
    for i, p in enumerate(parents):
        if p < 0:
            tables.append(alone[i][:, None, :])
            continue
        shape = (n_classes, features[p].n_states, features[i].n_states)
        counts = count_pairs(classes, features[p].codes, features[i].codes, shape, weights)
        model = _model(features, scores, weights, counts, alone, i, p)
        tables.append(_normalize(counts + strength * _match_margin(model, alone[p], alone[i])))
    return Augmented(prior / prior.sum(), parents, tuple(tables))


def _score(
    feature: Feature, classes: Codes, n_classes: int, weights: Table, strength: float
) -> _Scores | None:
    """Return the normal scores of a column of numbers; None for a column of names."""
    from scipy.special import ndtri

    if feature.values is None:
        return None
    there = ~np.isnan(feature.values)
    values, inverse = np.unique(feature.values[there], return_inverse=True)
    mass = np.bincount(inverse, weights[there])
    total = mass.sum()
    below = np.cumsum(mass) - mass
    z = np.full(len(classes), np.nan)
    z[there] = ndtri((below + mass / 2) / total)[inverse]
    at = np.searchsorted(values, feature.cuts)
    # A cut has rows on both sides; half a row keeps its score finite if their weight is tiny.
    share, least = np.append(below, total)[at] / total, 0.5 / (there.sum() + 1)
    limits = ndtri(np.clip(share, least, 1 - least))
    w, y, z_there = weights[there], classes[there], z[there]
    n = np.bincount(y, w, n_classes)
    mean = np.bincount(y, w * z_there, n_classes) / (n + 1.0)
    squares = np.bincount(y, w * (z_there - mean[y]) ** 2, n_classes)
    common = squares.sum() / total
    deviation = np.sqrt(np.maximum((squares + strength * common) / (n + strength), 1e-3))
    residual = (z - mean[classes]) / deviation[classes]
    return _Scores(z, limits, mean, deviation, residual)


def _fit_alone(
    feature: Feature,
    score: _Scores | None,
    classes: Codes,
    n_classes: int,
    weights: Table,
    strength: float,
) -> Table:
    """Return P(x | y) of one feature."""
    there = feature.codes >= 0
    shape = (n_classes, feature.n_states)
    places = np.ravel_multi_index((classes[there], feature.codes[there]), shape)
    counts = np.bincount(places, weights[there], n_classes * feature.n_states).reshape(shape)
    if score is not None:
        return _normalize(counts + strength * _bins(score.limits, score.mean, score.deviation))
    overall = counts.sum(axis=0) + 1.0
    return _normalize(counts + feature.n_states * overall / overall.sum())


def _bins(limits: Table, mean: Table, deviation: Table | float) -> Table:
    """Return the probability of each bin for normal distributions, along a new last axis."""
    from scipy.special import ndtr

    spread = np.broadcast_to(deviation, mean.shape)
    below = ndtr((limits - mean[..., None]) / spread[..., None])
    ends = np.zeros((*mean.shape, 1))
    shares = np.diff(np.concatenate([ends, below, ends + 1.0], axis=-1), axis=-1)
    return np.maximum(shares, LEAST_PROBABILITY)


def _gain(
    features: Sequence[Feature],
    scores: Sequence[_Scores | None],
    classes: Codes,
    n_classes: int,
    weights: Table,
    i: int,
    j: int,
) -> float:
    """Return what an arc between two features is worth, given the class."""
    one, other = scores[i], scores[j]
    if one is None and other is None:
        shape = (n_classes, features[i].n_states, features[j].n_states)
        counts = count_pairs(classes, features[i].codes, features[j].codes, shape, weights)
        # What all classes share: observed against expected, summed over the classes.
        total = np.maximum(counts.sum(axis=(1, 2), keepdims=True), 1e-9)
        expected = (counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)) / total
        pooled, by_chance = counts.sum(axis=0), expected.sum(axis=0)
        seen = pooled > 0
        told = float((pooled[seen] * np.log(pooled[seen] / by_chance[seen])).sum())
        n, n_added = float(pooled.sum()), (features[i].n_states - 1) * (features[j].n_states - 1)
    else:
        if one is not None and other is not None:
            correlation, n = _correlate(one, other, weights)
            explained, n_added = correlation**2, 1
        else:
            number, names = (one, features[j]) if one is not None else (other, features[i])
            assert number is not None
            _, explained, n = _shift(number, names.codes, names.n_states, weights)
            n_added = names.n_states - 1
        told = -0.5 * n * float(np.log1p(-min(explained, MAX_CORRELATION**2)))
    return told - 0.5 * float(np.log(max(n, 1.0))) * n_added


def _correlate(one: _Scores, other: _Scores, weights: Table) -> tuple[float, float]:
    """Return the correlation of two residuals, drawn a little towards 0, and the cases for it."""
    products = one.residual * other.residual
    there = ~np.isnan(products)
    n = float(weights[there].sum())
    found = float((weights[there] * products[there]).sum()) / (n + 5.0)
    return float(np.clip(found, -MAX_CORRELATION, MAX_CORRELATION)), n


def _shift(
    number: _Scores, names: Codes, n_states: int, weights: Table
) -> tuple[Table, float, float]:
    """Return by how much each name shifts a residual, the variance explained, and the cases."""
    there = (names >= 0) & ~np.isnan(number.residual)
    w, residual = weights[there], number.residual[there]
    n = np.bincount(names[there], w, n_states)
    shift = np.bincount(names[there], w * residual, n_states) / (n + 5.0)
    total = float(w.sum())
    return shift, float((n * shift**2).sum()) / max(total, 1.0), total


def _model(
    features: Sequence[Feature],
    scores: Sequence[_Scores | None],
    weights: Table,
    counts: Table,
    alone: Sequence[Table],
    i: int,
    p: int,
) -> Table:
    """Return the model m(x | y, u) of feature i below feature p, with the axes y, u, x."""
    one, parent = scores[i], scores[p]
    if one is not None and parent is not None:
        return _model_numbers(one, parent, _correlate(one, parent, weights)[0], alone[i])
    if one is not None:
        return _model_shifted(one, features[p].codes, counts.shape[1], weights)
    if parent is not None:  # by Bayes' rule from m(u | y, x)
        shifted = _model_shifted(parent, features[i].codes, counts.shape[2], weights)
        return _normalize(alone[i][:, None, :] * shifted.transpose(0, 2, 1))
    pooled = counts.sum(axis=0)
    overall = _normalize(pooled.sum(axis=0) + 1.0)
    given = _normalize(pooled + 2.0 * overall)
    return _normalize(given * alone[i][:, None, :] / overall)


def _model_numbers(one: _Scores, parent: _Scores, correlation: float, alone: Table) -> Table:
    """Return m(x | y, u) of two columns of numbers: a bivariate normal distribution, by slices."""
    from scipy.special import ndtri

    residual = ndtri((np.arange(N_SLICES) + 0.5) / N_SLICES)
    rest = np.sqrt(1 - correlation**2)
    found = np.empty((len(alone), len(parent.limits) + 1, alone.shape[1]))
    for y in range(len(alone)):
        z = parent.mean[y] + parent.deviation[y] * residual
        mean = one.mean[y] + one.deviation[y] * correlation * residual
        slices = _bins(one.limits, mean, float(one.deviation[y] * rest))
        bin_of = np.searchsorted(parent.limits, z, side="right")
        for u in range(found.shape[1]):
            found[y, u] = slices[bin_of == u].mean(axis=0) if (bin_of == u).any() else alone[y]
    return found


def _model_shifted(number: _Scores, names: Codes, n_names: int, weights: Table) -> Table:
    """Return m(x | y, u) of a number below a name: the name shifts the mean."""
    shift, explained, _ = _shift(number, names, n_names, weights)
    mean = number.mean[:, None] + number.deviation[:, None] * shift
    rest = np.sqrt(max(1 - explained, 1 - MAX_CORRELATION**2))
    return _bins(number.limits, mean, number.deviation[:, None] * rest)


def _match_margin(model: Table, above: Table, alone: Table) -> Table:
    """Scale a model until Σ_u P(u | y) m(x | y, u) is P(x | y)."""
    model = _normalize(np.maximum(model, LEAST_PROBABILITY))
    for _ in range(N_ROUNDS):
        margin = np.einsum("yu,yux->yx", above, model)
        model = _normalize(model * (alone / margin)[:, None, :])
    return model


def _normalize(table: Table) -> Table:
    table = np.maximum(table / table.sum(axis=-1, keepdims=True), LEAST_PROBABILITY)
    normalized: NDArray[np.float64] = table / table.sum(axis=-1, keepdims=True)
    return normalized
