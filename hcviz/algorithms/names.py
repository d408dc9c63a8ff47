"""The names of hcviz's own methods as a type, so that editors complete them.

``make lint`` writes this file from ``MODULES`` (``tools/method_names.py``).
"""

from __future__ import annotations

from typing import Literal

MethodName = Literal[
    "ddt",
    "crsc",
    "crbc",
    "hrsc",
    "dasgupta-search",
    "random-cut",
    "derandomised-cut",
    "densest-cut",
    "active-spectral",
    "active-kmeans",
    "heurspec",
    "spectral",
    "kmeans",
    "build",
    "average",
    "single",
    "complete",
    "ward",
    "neighbour-ward",
    "4-al",
    "sl",
    "cl",
    "4k-al-active",
    "4k-al",
    "adds-sdp",
    "t-ste",
    "forte",
    "actual-agreement",
    "best-merge",
]

__all__ = ["MethodName"]
