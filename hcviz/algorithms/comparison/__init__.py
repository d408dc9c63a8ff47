"""Papers 000 and 004: trees and partitions from comparisons alone."""

from hcviz.algorithms.comparison.active import ACTIVE_KERNEL, CL, SL

ALGORITHMS = (SL, CL, ACTIVE_KERNEL)
