"""What others do: methods of the literature that buy features and decide, each under its own name.

Every baseline is a scikit-learn classifier with the verbs of `AcquiringClassifier` (`fit`,
`predict`, `bill`, `total_cost`; see `interface`), so they can be compared on equal terms. They are
also rivals of `voilattice.learning.evaluate`.

What people use is in `classifiers` and `streed`. Trees for money are `cost_trees`, `icet` and
`minimal_cost_tree`, grown by `tree_growth` on `coding` and followed by `tree_decider`. Methods that
buy one feature after another (`walks`) are `naive_bayes`, `posterior_shift`, `feature_clusters`,
`greedy_information` (with `class_forests`) and `systematic_search`.
"""

from voilattice.extras import need_extra

need_extra("arena", "voilattice.baselines")

from voilattice.baselines.classifiers import (
    AccuracyTree,
    BoostingHalf,
    BoostingQuarter,
    CostTree,
    DecideAtOnce,
    GradientBoosting,
    LogisticHalf,
    LogisticQuarter,
    LogisticRegression,
)
from voilattice.baselines.cost_trees import CSID3Tree, EG2Tree, IDXTree
from voilattice.baselines.feature_clusters import FeatureClusters
from voilattice.baselines.greedy_information import GreedyInformation
from voilattice.baselines.icet import ICET
from voilattice.baselines.interface import Baseline
from voilattice.baselines.minimal_cost_tree import MinimalCostTree
from voilattice.baselines.naive_bayes import CostSensitiveNaiveBayes
from voilattice.baselines.posterior_shift import PosteriorShift
from voilattice.baselines.streed import STreeD
from voilattice.baselines.systematic_search import SystematicSearch

__all__ = [
    "BASELINES",
    "ICET",
    "AccuracyTree",
    "Baseline",
    "BoostingHalf",
    "BoostingQuarter",
    "CSID3Tree",
    "CostSensitiveNaiveBayes",
    "CostTree",
    "DecideAtOnce",
    "EG2Tree",
    "FeatureClusters",
    "GradientBoosting",
    "GreedyInformation",
    "IDXTree",
    "LogisticHalf",
    "LogisticQuarter",
    "LogisticRegression",
    "MinimalCostTree",
    "PosteriorShift",
    "STreeD",
    "SystematicSearch",
]

#: All of them by their names.
BASELINES: dict[str, type[Baseline]] = {
    method.name: method
    for method in (
        DecideAtOnce,
        AccuracyTree,
        CostTree,
        LogisticRegression,
        LogisticHalf,
        LogisticQuarter,
        GradientBoosting,
        BoostingHalf,
        BoostingQuarter,
        EG2Tree,
        CSID3Tree,
        IDXTree,
        ICET,
        MinimalCostTree,
        STreeD,
        CostSensitiveNaiveBayes,
        SystematicSearch,
        PosteriorShift,
        FeatureClusters,
        GreedyInformation,
    )
}
