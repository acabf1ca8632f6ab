"""One rule for ties: benefit, fewer features, the lower price, the problem's order."""

import itertools

import pytest

from voilattice.ties import TOLERANCE, Offer, tolerance, winner

TOL = 0.1


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Offer(5.2, 9, 0b111), Offer(5, 1, 0b1)),  # the benefit comes first
        (Offer(5, 9, 0b100), Offer(5.05, 1, 0b011)),  # equal within the tolerance: fewer features
        (Offer(5, 1, 0b110), Offer(5, 2, 0b011)),  # as many features: the lower price
        (Offer(5, 2, 0b101), Offer(5, 2.05, 0b110)),  # the first feature that only one has
        (Offer(5, 2, 0b0011), Offer(5, 2, 0b0101)),
    ],
)
def test_the_rule_decides_and_only_one_way(better, worse):
    assert better.beats(worse, TOL)
    assert not worse.beats(better, TOL)


def test_no_offer_beats_itself():
    offer = Offer(5, 2, 0b101)
    assert not offer.beats(offer, TOL)


def test_the_winner_does_not_depend_on_the_order():
    # In steps below the tolerance the first two tie, and so do the last two, but not the ends.
    offers = [Offer(5, 1, 0b1), Offer(5.08, 2, 0b11), Offer(5.16, 3, 0b111)]
    found = {winner(order, lambda offer: offer, TOL) for order in itertools.permutations(offers)}
    assert found == {offers[1]}


def test_the_winner_is_the_item_whose_offer_wins():
    offers = {"dear": Offer(3, 7, 0b10), "cheap": Offer(3, 4, 0b100), "poor": Offer(1, 0, 0)}
    assert winner(offers, offers.get, TOL) == "cheap"


def test_the_tolerance_is_relative_to_the_stake_and_never_below_its_unit():
    assert [tolerance(stake) for stake in (0, 1, 2000)] == [TOLERANCE, TOLERANCE, 2000 * TOLERANCE]
