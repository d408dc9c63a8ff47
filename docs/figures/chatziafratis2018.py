"""Sparsest cuts of six animals, without and with an answer (Chatziafratis et al. 2018)."""

from __future__ import annotations

import networkx as nx
import numpy as np
from matplotlib.axes import Axes

import hcviz
from figures.drawing import BLUE, GREY, INK, ORANGE, Frame, draw_tree, new_figure

ANIMALS = ["ant", "bee", "crow", "dove", "eagle", "fox"]
SIMILARITY = np.array(
    [
        [0, 8, 3, 2, 1, 1],
        [8, 0, 4, 3, 1, 0],
        [3, 4, 0, 7, 6, 2],
        [2, 3, 7, 0, 5, 1],
        [1, 1, 6, 5, 0, 3],
        [1, 0, 2, 1, 3, 0],
    ],
    dtype=float,
)
ANSWER = ("fox", "eagle", "crow")


def sparsity(side: list[int], sizes: list[int], weights: np.ndarray) -> tuple[float, float]:
    """The weight between a side and the rest, and this divided by both numbers of items."""
    rest = [k for k in range(len(sizes)) if k not in side]
    weight = float(weights[np.ix_(side, rest)].sum())
    return weight, weight / (sum(sizes[k] for k in side) * sum(sizes[k] for k in rest))


def first_cut(tree: hcviz.Tree) -> list[int]:
    """The items on the side of the root that has fewer of them."""
    sides = [tree.leaves(int(child)).tolist() for child in tree.children(tree.root)]
    return sorted(min(sides, key=len))


def frames() -> list[Frame]:
    free = hcviz.Problem(similarity=SIMILARITY, labels=ANIMALS)
    told = free.with_triplets([ANSWER])
    before = hcviz.fit("crsc", free, oracle="exact")
    after = hcviz.fit("crsc", told, oracle="exact")
    pair = [ANIMALS.index("eagle"), ANIMALS.index("fox")]
    return [
        _cut(before, [[k] for k in range(6)], "No answer.", ""),
        _cut(
            after, [[k] for k in range(6) if k not in pair] + [pair],
            "Answer: fox and eagle together, crow apart.",
            "Fox and eagle are one supernode of two items, and their similarities are added up. ",
        ),
        _trees(before, after),
    ]  # fmt: skip


def _cut(tree: hcviz.Tree, nodes: list[list[int]], title: str, lead: str) -> Frame:
    """Draw the supergraph and the cut at the root of the tree."""
    weights = np.array([[SIMILARITY[np.ix_(a, b)].sum() for b in nodes] for a in nodes])
    np.fill_diagonal(weights, 0.0)
    sizes = [len(node) for node in nodes]
    items = set(first_cut(tree))
    side = [k for k, node in enumerate(nodes) if set(node) <= items]
    weight, ratio = sparsity(side, sizes, weights)
    figure = new_figure(7.0, 3.1)
    graph, drawn = figure.subplots(1, 2, width_ratios=[1, 1])
    names = [" + ".join(ANIMALS[k] for k in node) for node in nodes]
    _graph(graph, names, sizes, weights, side)
    graph.set_title(title, loc="left")
    draw_tree(drawn, tree, ANIMALS, {k: ORANGE for k in items})
    drawn.set_title("the tree that follows", loc="left")
    few, many = sorted((len(items), 6 - len(items)))
    return Frame(
        figure,
        f"{lead}The sparsest cut separates {' and '.join(ANIMALS[k] for k in sorted(items))}: the "
        f"similarity across it is {weight:g}, divided by {few} · {many} items, {ratio:.2f}. "
        "Then each side is cut in the same way.",
    )


def _graph(
    axis: Axes, names: list[str], sizes: list[int], weights: np.ndarray, side: list[int]
) -> None:
    """Draw nodes in a circle, with edges as wide as their weights; the cut ones are dashed."""
    place = nx.circular_layout(range(len(names)))
    for i in range(len(names)):
        for j in range(i):
            if weights[i, j] > 0:
                is_cut = (i in side) != (j in side)
                axis.plot(
                    *zip(place[i], place[j], strict=True), zorder=1, lw=0.45 * weights[i, j],
                    color=ORANGE if is_cut else GREY, ls=(0, (2, 1.2)) if is_cut else "-",
                    solid_capstyle="butt", alpha=0.9 if is_cut else 0.55,
                )  # fmt: skip
    for k, name in enumerate(names):
        axis.scatter(*place[k], s=130 * sizes[k], zorder=2, linewidths=0,
                     color=ORANGE if k in side else BLUE)  # fmt: skip
        axis.text(*(1.27 * place[k]), name, ha="center", va="center", color=INK)
    axis.set_xlim(-1.75, 1.75)
    axis.set_ylim(-1.45, 1.45)
    axis.set_aspect("equal")
    axis.axis("off")


def _trees(before: hcviz.Tree, after: hcviz.Tree) -> Frame:
    """Draw both trees, with their costs."""
    figure = new_figure(7.0, 2.7)
    costs = []
    for axis, tree, title in zip(
        figure.subplots(1, 2), (before, after), ("no answer", "with the answer"), strict=True
    ):
        costs.append(hcviz.metrics.dasgupta_cost(tree, SIMILARITY))
        told = {ANIMALS.index(name): ORANGE for name in ANSWER[:2]}
        draw_tree(axis, tree, ANIMALS, told)
        axis.set_title(f"{title}: Dasgupta's cost {costs[-1]:g}", loc="left")
    return Frame(
        figure,
        f"The answer costs {costs[1] - costs[0]:g}, or {100 * (costs[1] / costs[0] - 1):.0f} per "
        "cent. That is its price in similarity, and says nothing about whether it is right.",
    )
