"""Trees and partitions from comparisons (Ghoshdastidar et al. 2019; Perrot et al. 2020)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hcviz.algorithms.comparison.asking import ACTIVE_KERNEL, CL, SL
from hcviz.algorithms.comparison.embedding import FORTE, T_STE
from hcviz.algorithms.comparison.partition import ADDS_SDP
from hcviz.algorithms.comparison.passive import FOUR_AL, KERNEL
from hcviz.core.problem import Problem

ALGORITHMS = (SL, CL, ACTIVE_KERNEL, KERNEL, FOUR_AL, ADDS_SDP, T_STE, FORTE)


def warm() -> None:
    """Compile or load the kernels: run the methods on six items, with lists of answers."""
    place = np.array([0.0, 1.0, 3.0, 10.0, 12.0, 15.0])
    apart = np.abs(np.subtract.outer(place, place))
    pairs = list(combinations(range(6), 2))
    near_first = [(*p, *q) for p in pairs for q in pairs if apart[p] < apart[q]]
    answers = Problem(comparisons=near_first)
    for method in (KERNEL, FOUR_AL, ADDS_SDP):
        list(method.start_run(answers, method.parameters(), np.random.default_rng(0)))
    similar = Problem(similarity=-apart)
    for method in (SL, ACTIVE_KERNEL):
        list(method.start_run(similar, method.parameters(), np.random.default_rng(0)))
