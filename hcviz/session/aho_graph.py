"""Aho's graph: why a set of items is divided as it is, and why some sets cannot be divided.

At a clade S, every enabled constraint ab|c with a, b and c in S connects a and b. A tree that
separates a and b at S violates it. So each connected component stays together, and a tree divides S
into two or more unions of components. With two components the split is forced. With one component
no tree exists, and S is *blocked*.

References: Aho, Sagiv, Szymanski & Ullman (1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from hcviz.core.build import aho_components
from hcviz.session.constraint import EVERYTHING_ELSE, Constraint


@dataclass(frozen=True)
class Edge:
    """Answer ``id`` connects items ``a`` and ``b``, apart from ``apart``."""

    a: int
    b: int
    apart: int
    id: int


@dataclass(frozen=True)
class AhoGraph:
    """Aho's graph on ``items`` (increasing).

    ``edges`` come from the answers; ``components`` are ordered by their smallest item.
    """

    items: tuple[int, ...]
    edges: tuple[Edge, ...]
    components: tuple[tuple[int, ...], ...]

    @cached_property
    def component_of(self) -> dict[int, int]:
        """Item -> the number of its component."""
        return {item: k for k, piece in enumerate(self.components) for item in piece}

    def constraint_ids(self, piece: int) -> tuple[int, ...]:
        """Return the answers that connect a component, each once, by id."""
        of = self.component_of
        return tuple(dict.fromkeys(edge.id for edge in self.edges if of[edge.a] == piece))

    @property
    def is_forced(self) -> bool:
        """True if there is only one way to divide these items."""
        return len(self.components) == 2

    @property
    def n_splits(self) -> int:
        """The number of ways to divide the items in two: 2^(k - 1) - 1 for k components."""
        return 2 ** (len(self.components) - 1) - 1 if self.components else 0


def aho_graph(constraints: Sequence[Constraint], items: ArrayLike) -> AhoGraph:
    """Return the graph of these answers on ``items``; a group gives a chain of its members there.

    O(items + triplets).
    """
    members = np.unique(np.asarray(items, np.int64))
    inside = set(members.tolist())
    edges = tuple(
        Edge(a, b, odd, each.id)
        for each in constraints
        for odd in _reasons(each, inside)
        for a, b in pairwise(item for item in each.group if item in inside)
    )
    rows = [(edge.a, edge.b, edge.apart) for edge in edges if edge.apart >= 0]
    pieces = aho_components(members, rows, [c.group for c in constraints if c.is_clade])
    return AhoGraph(
        tuple(members.tolist()), edges, tuple(tuple(piece.tolist()) for piece in pieces)
    )


def _reasons(constraint: Constraint, inside: set[int]) -> tuple[int, ...]:
    """Return why the group is kept on one side: the first outsider in the set, or nothing."""
    if constraint.is_clade:
        return () if inside <= set(constraint.group) else (EVERYTHING_ELSE,)
    return tuple(item for item in constraint.outsiders if item in inside)[:1]


@dataclass(frozen=True)
class BlockedSet:
    """A set of items that the answers connect into one component.

    ``path`` goes along earlier answers from the odd item of the new answer to a member of its
    group. These answers connect the two. The new answer connects the rest of its group
    (``closing_edges``). So the odd item cannot be apart.
    """

    graph: AhoGraph
    path: tuple[int, ...]
    closing_edges: tuple[Edge, ...]


def find_blocked_set(new: Constraint, others: Sequence[Constraint]) -> BlockedSet | None:
    """Return the set where BUILD fails with ``new`` and ``others``, or None if it succeeds.

    ``others`` must be consistent. If the answers form a minimal conflict, each has an edge in the
    set. O(depth (items + triplets)).
    """
    everything = [*others, new]
    waiting = [np.unique([item for each in everything for item in each.named])]
    while waiting:
        items = waiting.pop()
        if items.size < 2:
            continue
        graph = aho_graph(everything, items)
        if len(graph.components) == 1:
            return BlockedSet(
                graph, _path(graph, new), tuple(e for e in graph.edges if e.id == new.id)
            )
        waiting += [np.array(piece) for piece in graph.components]
    return None


def _path(graph: AhoGraph, new: Constraint) -> tuple[int, ...]:
    """Return the path from the new answer's odd item along other answers to the its group."""
    old = nx.Graph()
    old.add_nodes_from(graph.items)
    old.add_edges_from((edge.a, edge.b) for edge in graph.edges if edge.id != new.id)
    if new.is_clade:  # from any item outside
        starts = {item for item in graph.items if item not in new.group}
        inside = [item for item in new.group if item in old]
        ends = [
            tuple(reversed(path[: _first(path, starts) + 1]))
            for item in inside
            for path in nx.single_source_shortest_path(old, item).values()
            if starts.intersection(path)
        ]
        return min(ends, key=_length, default=())
    ends = [
        tuple(reached[item])
        for odd in new.outsiders
        if odd in old
        for reached in (nx.single_source_shortest_path(old, odd),)
        for item in new.group
        if item in reached
    ]
    return min(ends, key=_length, default=())


def _first(path: Sequence[int], wanted: set[int]) -> int:
    return next(place for place, item in enumerate(path) if item in wanted)


def _length(path: tuple[int, ...]) -> int:
    return len(path)
