"""Why a set of items is divided as it is, and why some sets cannot be divided: Aho's graph.

At a clade S every enabled answer ab|c with a, b and c in S joins a and b: whoever parted them here
would break it. The connected pieces of that graph may go to either side; a tree divides S into two
or more unions of pieces. Two pieces: the split is forced. One piece: no tree exists (Aho, Sagiv,
Szymanski and Ullman 1981), and S is *blocked*.
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
from hcviz.session.constraint import Constraint
from hcviz.session.model import joined_triplets


@dataclass(frozen=True)
class Edge:
    """Items ``a`` and ``b`` held together by answer ``id`` before ``apart``."""

    a: int
    b: int
    apart: int
    id: int


@dataclass(frozen=True)
class AhoGraph:
    """Aho's graph on ``items`` (increasing): its edges, and its pieces in order of least item."""

    items: tuple[int, ...]
    edges: tuple[Edge, ...]
    components: tuple[tuple[int, ...], ...]

    @cached_property
    def component_of(self) -> dict[int, int]:
        return {item: k for k, piece in enumerate(self.components) for item in piece}

    def constraint_ids(self, piece: int) -> tuple[int, ...]:
        """The answers that hold a piece together, by id, each once."""
        of = self.component_of
        return tuple(dict.fromkeys(edge.id for edge in self.edges if of[edge.a] == piece))

    @property
    def is_forced(self) -> bool:
        """There is only one way to divide these items."""
        return len(self.components) == 2

    @property
    def n_splits(self) -> int:
        """In how many ways the items can be divided in two: 2^(k - 1) - 1 for k pieces."""
        return 2 ** (len(self.components) - 1) - 1 if self.components else 0


def aho_graph(constraints: Sequence[Constraint], items: ArrayLike) -> AhoGraph:
    """The graph of these answers on ``items``; of a group its members there, as a chain.

    O(items + triplets).
    """
    members = np.unique(np.asarray(items, np.int64))
    inside = set(members.tolist())
    edges = tuple(
        Edge(a, b, each.apart, each.id)
        for each in constraints
        if each.apart in inside
        for a, b in pairwise(item for item in each.group if item in inside)
    )
    rows = [(edge.a, edge.b, edge.apart) for edge in edges]
    pieces = aho_components(members, rows)
    return AhoGraph(
        tuple(members.tolist()), edges, tuple(tuple(piece.tolist()) for piece in pieces)
    )


@dataclass(frozen=True)
class BlockedSet:
    """A set of items that answers leave in one piece.

    ``path``: from the odd one of the new answer along earlier ones to a member of its group: they
    hold the two together, and the new answer holds the rest of its group with them (``closing_edges``,
    its edges here). So the odd one cannot be apart.
    """

    graph: AhoGraph
    path: tuple[int, ...]
    closing_edges: tuple[Edge, ...]


def find_blocked_set(new: Constraint, others: Sequence[Constraint]) -> BlockedSet | None:
    """Where BUILD fails with ``new`` beside ``others``, which have a tree; None where it does not.

    Of a set that is minimal every answer has an edge here. O(depth (items + triplets)).
    """
    everything = [*others, new]
    waiting = [np.unique(joined_triplets(tuple(everything)).rows)]
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
    """From the new answer's odd one along other answers to the nearest of its group."""
    old = nx.Graph()
    old.add_nodes_from(graph.items)
    old.add_edges_from((edge.a, edge.b) for edge in graph.edges if edge.id != new.id)
    if new.apart not in old:
        return ()
    reached = nx.single_source_shortest_path(old, new.apart)
    ends = [tuple(reached[item]) for item in new.group if item in reached]
    return min(ends, key=_length, default=())


def _length(path: tuple[int, ...]) -> int:
    return len(path)
