"""Effects: what ``update`` asks the Store to do. Data, so that tests can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.session.constraint import DataSpec


@dataclass(frozen=True, eq=False)
class StartRun:
    """Start run ``run`` in the place of whatever runs, with ``generator(seed, run)``.

    ``start``: a snapshot to go on from, a tree to begin at, or None for a run from nothing.
    ``comparisons``: answers that the session has beside the data's.
    """

    run: int
    method: str
    params: Mapping[str, Any]
    seed: int
    triplets: Triplets
    start: Snapshot | Tree | None
    comparisons: Comparisons | None = None


@dataclass(frozen=True)
class CancelRun:
    run: int


@dataclass(frozen=True)
class ReloadData:
    """Read the data again as ``spec`` says; comes before the StartRun that needs it."""

    spec: DataSpec


@dataclass(frozen=True)
class Announce:
    """Say this, also to a screen reader; it is the session's ``message`` as well."""

    text: str


Effect = StartRun | CancelRun | ReloadData | Announce
