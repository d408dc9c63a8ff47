"""Top-down methods of paper 001: recursive cuts under triplets."""

from hcviz.algorithms.structural.crsc import CRSC, warm

ALGORITHMS = (CRSC,)

__all__ = ["ALGORITHMS", "warm"]
