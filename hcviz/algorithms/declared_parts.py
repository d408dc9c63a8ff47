"""What an ``Algorithm`` may declare: the parts of a run, a curve, a division of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hcviz.core.snapshot import Snapshot


@dataclass(frozen=True)
class RunPart:
    """One independent part of a run: the arguments of a run of the same method.

    Parameters
    ----------
    params : Mapping
        Its parameters.
    rng : numpy.random.Generator
        Its random numbers.
    start : Tree, Snapshot or None
        Where it begins.

    Examples
    --------
    >>> RunPart({"steps": 100}, generator(0, run=1)).start is None
    True
    """

    params: Mapping[str, Any]
    rng: np.random.Generator
    start: Any = None


@dataclass(frozen=True)
class SplitRun:
    """A run as independent parts, which may run at the same time on different machines.

    Parameters
    ----------
    parts : sequence of RunPart
        The parts. Each yields as many snapshots as the whole run.
    combine : callable
        Makes the run's next snapshot from the next snapshot of each part, in the order of
        ``parts``. It is called once for each snapshot, in order.

    Examples
    --------
    >>> parts = [RunPart({}, generator(0, run=k)) for k in range(2)]
    >>> split = SplitRun(parts, combine=lambda snapshots: snapshots[0])
    >>> len(split.parts)
    2
    """

    parts: Sequence[RunPart]
    combine: Callable[[Sequence[Snapshot]], Snapshot]


@dataclass(frozen=True)
class ClusterCurve:
    """A declared :class:`Series` over the values of a parameter, the number of clusters.

    Parameters
    ----------
    view : str
        Name of the series in ``Snapshot.views``: x is the parameter's value, y its quality.
    parameter : str
        The parameter that takes one of these values; 0 lets the method choose.
    depends : tuple of str
        The parameters that change the curve. After a change of any other one, the curve of an
        earlier run on the same data is still valid.
    quality : str
        What the page calls y, in lower case.

    Examples
    --------
    >>> ClusterCurve(view="revenue", parameter="clusters").quality
    'quality'
    """

    view: str
    parameter: str
    depends: tuple[str, ...] = ()
    quality: str = "quality"


class SampledDivision(Protocol):
    """A recursion that divides a sample of each set, and assigns the other items to its clusters.

    :class:`hcviz.algorithms.active.ActiveCluster` is one. The page shows which similarities it
    queries. A cluster of workers can run its subtasks.
    """

    @property
    def k(self) -> int | None:
        """Clusters of each division; None if the eigengap chooses."""

    @property
    def c(self) -> float:
        """The factor of the default sample size, c ln n."""

    def settings(self, n: int) -> Any:
        """Return the settings for n items; their attribute ``s`` is the sample size."""

    def expected_share(self, n: int) -> float:
        """Estimate the share of all pairs that a run queries, in [0, 1]."""

    def grow(self, oracle: Any, *args: Any, **options: Any) -> Iterator[Snapshot | None]:
        """Run on an oracle: ``grow(oracle, seed, triplets, executor=executor)``."""


__all__ = ["ClusterCurve", "RunPart", "SampledDivision", "SplitRun"]
