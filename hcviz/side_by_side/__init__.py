"""Several methods on the same data and constraints: their trees and figures, side by side."""

from hcviz.side_by_side.comparison import MethodComparison, MethodResult, compare_methods
from hcviz.side_by_side.figures import TreeFigures, measure, queries_of

__all__ = [
    "MethodComparison",
    "MethodResult",
    "TreeFigures",
    "compare_methods",
    "measure",
    "queries_of",
]
