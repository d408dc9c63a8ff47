"""Built-in data sets, planted models, samples of comparisons, and simulated users."""

from hcviz.core.piles import Pile
from hcviz.core.sign_oracle import SignOracle
from hcviz.datasets.blocks import noisy_blocks
from hcviz.datasets.cblearn import from_cblearn
from hcviz.datasets.crowd import crowd_answers
from hcviz.datasets.dataset import Dataset, class_tree
from hcviz.datasets.hard_instances import densest_cut_trap
from hcviz.datasets.loaders import at_hand, load, names, title
from hcviz.datasets.phylogeny import phylogeny
from hcviz.datasets.planted import planted_hierarchy, planted_partition
from hcviz.datasets.preprocessing import MISSING, SCALINGS, fill_missing, scale_features
from hcviz.datasets.sampling import (
    count_comparisons,
    sample_comparisons,
    sample_signs,
    stream_comparisons,
)
from hcviz.datasets.simulated_user import SimulatedUser

__all__ = [
    "MISSING",
    "SCALINGS",
    "Dataset",
    "Pile",
    "SignOracle",
    "SimulatedUser",
    "at_hand",
    "class_tree",
    "count_comparisons",
    "crowd_answers",
    "densest_cut_trap",
    "fill_missing",
    "from_cblearn",
    "load",
    "names",
    "noisy_blocks",
    "phylogeny",
    "planted_hierarchy",
    "planted_partition",
    "sample_comparisons",
    "sample_signs",
    "scale_features",
    "stream_comparisons",
    "title",
]
