"""Recursive cuts under triplets, and a search for the cheapest tree (Chatziafratis et al. 2018)."""

from hcviz.algorithms.structural.crsc import CRBC, CRSC, HRSC
from hcviz.algorithms.structural.dissimilar import DENSEST_CUT, DERANDOMISED_CUT, RANDOM_CUT
from hcviz.algorithms.structural.search import DASGUPTA_SEARCH

ALGORITHMS = (CRSC, CRBC, HRSC, RANDOM_CUT, DERANDOMISED_CUT, DENSEST_CUT, DASGUPTA_SEARCH)
