"""Krishnamurthy et al. (2012): active clustering, few similarities of many items."""

from hcviz.algorithms.active.flat import FLAT, forget_flat, register_flat
from hcviz.algorithms.active.framework import ActiveCluster
from hcviz.algorithms.active.methods import ALGORITHMS, warm

__all__ = ["ALGORITHMS", "FLAT", "ActiveCluster", "forget_flat", "register_flat", "warm"]
