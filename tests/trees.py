"""Trees for tests: all small ones, random ones, the worst one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hcviz import Tree


def from_nested(nested, n: int) -> Tree:
    """From nested tuples of leaf indices, e.g. ``((0, 1), 2)``."""
    children: list[list[int]] = []

    def visit(node) -> int:
        if isinstance(node, int):
            return node
        below = [visit(child) for child in node]
        children.append(below)
        return n + len(children) - 1

    visit(nested)
    return Tree.from_children(children, n)


def all_trees(n: int, binary: bool = False) -> Iterator[Tree]:
    """Every labelled rooted tree on n leaves (1, 1, 4, 26, 236, ... with polytomies)."""
    for nested in _nested(tuple(range(n)), binary):
        yield Tree([-1], [0.0], 1) if n == 1 else from_nested(nested, n)


def _nested(items: tuple[int, ...], binary: bool):
    if len(items) == 1:
        yield items[0]
        return
    for blocks in _partitions(items):
        if len(blocks) < 2 or (binary and len(blocks) > 2):
            continue
        yield from _products(blocks, binary)


def _products(blocks, binary):
    if not blocks:
        yield ()
        return
    for first in _nested(blocks[0], binary):
        for rest in _products(blocks[1:], binary):
            yield (first, *rest)


def _partitions(items):
    if not items:
        yield []
        return
    head, tail = items[0], items[1:]
    for mask in range(2 ** len(tail)):
        mates = tuple(x for k, x in enumerate(tail) if mask >> k & 1)
        others = tuple(x for k, x in enumerate(tail) if not mask >> k & 1)
        for rest in _partitions(others):
            yield [(head, *mates), *rest]


def random_tree(rng: np.random.Generator, n: int, polytomies: bool = False) -> Tree:
    """Uniform random merging, with random increasing heights."""
    if n == 1:
        return Tree([-1], [0.0], 1)
    alive = list(range(n))
    children: list[list[int]] = []
    while len(alive) > 1:
        most = min(len(alive), 4 if polytomies else 2)
        count = int(rng.integers(2, most + 1))
        chosen = [alive.pop(int(rng.integers(len(alive)))) for _ in range(count)]
        children.append(chosen)
        alive.append(n + len(children) - 1)
    parent = Tree.from_children(children, n).parent
    height = np.concatenate([np.zeros(n), np.cumsum(rng.exponential(size=len(children)))])
    return Tree(parent, height, n)


def caterpillar(n: int) -> Tree:
    """((((0, 1), 2), 3), ...): as deep as a tree can be."""
    parent = np.full(2 * n - 1, -1, np.int32)
    parent[0] = n
    parent[1:n] = np.arange(n, 2 * n - 1)
    parent[n : 2 * n - 2] = np.arange(n + 1, 2 * n - 1)
    return Tree.with_size_heights(parent, n)


def true_triplets(tree: Tree, rng: np.random.Generator, count: int) -> np.ndarray:
    """Up to ``count`` triplets that hold in a tree."""
    rows = []
    for _ in range(count):
        a, b, c = rng.choice(tree.n_leaves, 3, replace=False).tolist()
        rows += [r for r in ((a, b, c), (a, c, b), (b, c, a)) if tree.satisfies([r])[0]]
    return np.array(rows, np.int32).reshape(-1, 3)
