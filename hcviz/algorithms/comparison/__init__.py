"""Trees and partitions from comparisons (Ghoshdastidar et al. 2019; Perrot et al. 2020)."""

from hcviz.algorithms.comparison.asking import ACTIVE_KERNEL, CL, SL
from hcviz.algorithms.comparison.embedding import FORTE, T_STE
from hcviz.algorithms.comparison.partition import ADDS_SDP
from hcviz.algorithms.comparison.passive import FOUR_AL, KERNEL

ALGORITHMS = (SL, CL, ACTIVE_KERNEL, KERNEL, FOUR_AL, ADDS_SDP, T_STE, FORTE)
