"""hcviz: build the hierarchy you mean.

The package builds a tree over items with any of several methods, and a person can correct it on a
web page. See README.md for an introduction, and docs/architecture.md for the code.
"""

from hcviz import datasets, metrics
from hcviz.algorithms import algorithms, fit, run, sample
from hcviz.core.build import build
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import HcvizError, InconsistentTriplets
from hcviz.core.file_oracle import FileOracle
from hcviz.core.problem import Problem
from hcviz.core.similarity_oracles import FeatureOracle, FunctionOracle, StringOracle
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.taxonomy import Group, Taxonomy

__version__ = "0.1.0"


def explore(problem_or_dataset, **options):  # type: ignore[no-untyped-def]
    """Return the page as an object for a notebook cell, or for its method ``show()``.

    The parameters are those of :func:`hcviz.ui.explore`.
    """
    from hcviz.ui import explore as build_explorer

    return build_explorer(problem_or_dataset, **options)


__all__ = [
    "Comparisons",
    "CountingOracle",
    "FeatureOracle",
    "FileOracle",
    "FunctionOracle",
    "Group",
    "HcvizError",
    "InconsistentTriplets",
    "Problem",
    "Snapshot",
    "StringOracle",
    "Taxonomy",
    "Tree",
    "Triplets",
    "algorithms",
    "build",
    "datasets",
    "explore",
    "fit",
    "metrics",
    "run",
    "sample",
]
