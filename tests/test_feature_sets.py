"""Sets of features as masks, rows of words and flags: three ways to write the same set."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voilattice.feature_sets import bits, mask_of, membership, sort_keys, to_mask, to_words

N_FEATURES = 150  # three words
MASKS = st.lists(st.integers(0, 2**N_FEATURES - 1), max_size=8)


@given(st.sets(st.integers(0, N_FEATURES - 1)))
def test_the_bits_of_a_mask_are_its_places_lowest_first(places):
    assert list(bits(mask_of(places))) == sorted(places)


@given(MASKS)
def test_a_row_of_words_is_its_mask(masks):
    rows = to_words(masks, 3)
    assert rows.shape == (len(masks), 3)
    assert [to_mask(row) for row in rows] == masks


@given(MASKS)
def test_the_flags_of_a_set_are_its_bits(masks):
    flags = membership(to_words(masks, 3), N_FEATURES)
    assert flags.shape == (len(masks), N_FEATURES)
    assert [np.flatnonzero(row).tolist() for row in flags] == [list(bits(m)) for m in masks]


@given(MASKS)
def test_keys_are_in_the_order_of_the_masks(masks):
    order = np.argsort(sort_keys(to_words(masks, 3)), kind="stable")
    assert [masks[k] for k in order] == sorted(masks)


def test_the_lowest_features_are_in_the_first_word():
    assert to_words([1, 1 << 64, (1 << 64) - 1], 2).tolist() == [[1, 0], [0, 1], [2**64 - 1, 0]]
