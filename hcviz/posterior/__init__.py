"""What a stream of sampled trees says, and whether it has said it long enough."""

from hcviz.posterior.clades import CladeTable
from hcviz.posterior.convergence import (
    Diagnosis,
    Verdict,
    ess_bulk,
    ess_mean,
    ess_tail,
    rhat,
    verdict,
)
from hcviz.posterior.draws import Draws, Sampler
from hcviz.posterior.settling import Settling, compare_chains
from hcviz.posterior.summary import Posterior, depth_moments, warm
from hcviz.posterior.thinned import Thinned

__all__ = [
    "CladeTable",
    "Diagnosis",
    "Draws",
    "Posterior",
    "Sampler",
    "Settling",
    "Thinned",
    "Verdict",
    "compare_chains",
    "depth_moments",
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "rhat",
    "verdict",
    "warm",
]
