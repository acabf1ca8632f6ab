"""What others do: methods of the literature that buy features and decide, each under its own name.

Every baseline is a scikit-learn classifier with the verbs of `AcquiringClassifier` (`fit`,
`predict`, `bill`, `total_cost`; see `interface`), so they can be compared on equal terms. They are
also rivals of `voilattice.learning.evaluate`.
"""

from voilattice.baselines.feature_clusters import FeatureClusters
from voilattice.baselines.greedy_information import GreedyInformation
from voilattice.baselines.interface import Baseline
from voilattice.baselines.naive_bayes import CostSensitiveNaiveBayes
from voilattice.baselines.posterior_shift import PosteriorShift
from voilattice.baselines.systematic_search import SystematicSearch

__all__ = [
    "BASELINES",
    "Baseline",
    "CostSensitiveNaiveBayes",
    "FeatureClusters",
    "GreedyInformation",
    "PosteriorShift",
    "SystematicSearch",
]

BASELINES: dict[str, type[Baseline]] = {
    method.name: method
    for method in (
        CostSensitiveNaiveBayes,
        SystematicSearch,
        PosteriorShift,
        FeatureClusters,
        GreedyInformation,
    )
}
