"""What features cost (paper, Section 2): a sum of kinds of prices, one file for each kind.

A set S acquired together at evidence e costs

    C(S | e) = sum_{i in S} own(i | e)  +  sum_g min_{i in S and g} surcharge(i)  +  round cost

where g runs over the sharings (groups and discounts) that S touches and e does not. The kinds are
`plain` prices, `conditional` prices, `groups`, `discounts` and `rounds`; `interface` says what a
kind is, and `feature_costs` adds them up. All else asks the sum through one door, `pricing`, where
costs of a user's own stand beside ours. `amounts` checks amounts of money.
"""

from voilattice.model.costs.amounts import MAX_AMOUNT, check_amount, format_set
from voilattice.model.costs.conditional import ConditionalCost
from voilattice.model.costs.discounts import Discount
from voilattice.model.costs.feature_costs import FeatureCosts
from voilattice.model.costs.groups import Group
from voilattice.model.costs.interface import Item, Sharing
from voilattice.model.costs.pricing import CostModel, Pricing, price_set, pricing_of

__all__ = [
    "MAX_AMOUNT",
    "ConditionalCost",
    "CostModel",
    "Discount",
    "FeatureCosts",
    "Group",
    "Item",
    "Pricing",
    "Sharing",
    "check_amount",
    "format_set",
    "price_set",
    "pricing_of",
]
