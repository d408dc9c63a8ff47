"""hcviz: build the hierarchy you mean.

Items in, a tree out, a person in the loop. See README.md, and docs/architecture.md for the house.
"""

from hcviz import datasets, metrics
from hcviz.algorithms import algorithms, fit, run, sample
from hcviz.core.build import build
from hcviz.core.errors import HcvizError, InconsistentTriplets
from hcviz.core.lazy import FeatureOracle, FunctionOracle, StringOracle
from hcviz.core.onfile import FileOracle
from hcviz.core.oracle import CountingOracle
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.taxonomy import Group, Taxonomy

__version__ = "0.1.0"


def explore(problem_or_dataset, **options):  # type: ignore[no-untyped-def]
    """The explorer in a notebook cell (or ``.show()``): see :func:`hcviz.ui.explore`."""
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
