"""Paper 001: recursive cuts under triplets, and the cheapest tree that a search finds."""

from hcviz.algorithms.structural.crsc import CRSC
from hcviz.algorithms.structural.search import DASGUPTA_SEARCH

ALGORITHMS = (CRSC, DASGUPTA_SEARCH)
