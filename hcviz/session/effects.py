"""Effects: requests of ``update`` to the store, as data that tests can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hcviz.core.groups import Groups
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.session.constraint import DataSpec


@dataclass(frozen=True, eq=False)
class StartRun:
    """Start run ``run`` with ``generator(seed, run)``. It replaces the run in progress.

    ``start`` is a snapshot to continue from, a tree to start at, or None. ``comparisons`` are those
    of the session, in addition to those of the data.
    """

    run: int
    method: str
    params: Mapping[str, Any]
    seed: int
    triplets: Triplets
    start: Snapshot | Tree | None
    comparisons: Comparisons | None = None
    groups: Groups | None = None
    not_groups: Groups | None = None


@dataclass(frozen=True)
class CancelRun:
    """Cancel a run."""

    run: int


@dataclass(frozen=True)
class ReloadData:
    """Load the data again from ``spec``. It comes before the ``StartRun`` that needs the data."""

    spec: DataSpec


@dataclass(frozen=True)
class Announce:
    """Show this text, also to screen readers. It is the session's ``message`` too."""

    text: str


Effect = StartRun | CancelRun | ReloadData | Announce
