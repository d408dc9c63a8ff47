"""A hierarchy from more and more comparisons (Ghoshdastidar, Perrot and von Luxburg 2019)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

import hcviz
from figures.drawing import COLOURS, GREY, Frame, draw_matrix, new_figure
from hcviz.algorithms.comparison.similarities import mulk4

LEVELS, PURE = 3, 8
RATES = (0.0005, 0.002, 0.01, 0.05)


def frames() -> list[Frame]:
    data = hcviz.datasets.planted_hierarchy(LEVELS, PURE, delta=0.08, seed=1)
    group = np.unique(data.classes, return_inverse=True)[1]
    total = hcviz.datasets.count_comparisons(len(group))
    made = []
    for p in RATES:
        answers = hcviz.datasets.sample_comparisons(data.similarity, p, seed=0)
        problem = hcviz.Problem(comparisons=answers, labels=data.labels)
        kernel = mulk4(len(group), answers)
        scores = {}
        figure = new_figure(7.0, 3.1)
        axes = figure.subplots(1, 3, width_ratios=[1.5, 1, 1])
        draw_matrix(axes[0], kernel, "similarity from comparisons", np.abs(kernel).max())
        for axis, method in zip(axes[1:], ("4k-al", "4-al"), strict=True):
            tree = hcviz.fit(method, problem, seed=0)
            scores[method] = hcviz.metrics.aari(data.target, tree, LEVELS)
            _tree(axis, tree, group)
            axis.set_title(f"{method}: AARI {scores[method]:.2f}")
        made.append(
            Frame(
                figure,
                f"{len(answers):,} of {total:,} comparisons ({100 * p:g} %). Left: the kernel of "
                "4K-AL, items in the order of the true hierarchy. Right: both trees, with a colour "
                "for each of the eight true clusters.",
            )
        )
    return made


def _tree(axis: Axes, tree: hcviz.Tree, group: np.ndarray) -> None:
    """Draw a tree with a strip of colours at its leaves."""
    n = tree.n_leaves
    level = np.log2(tree.size)
    row = np.zeros(tree.n_nodes)
    row[np.asarray(tree.leaf_order)] = np.arange(n)
    x, y = [], []  # one path with gaps, which is much smaller than a path for each line
    for node in range(n, tree.n_nodes):
        below = tree.children(node)
        row[node] = row[below].mean()
        x += [level[node], level[node], np.nan]
        y += [row[below].min(), row[below].max(), np.nan]
        for child in below:
            x += [level[node], level[child], np.nan]
            y += [row[child], row[child], np.nan]
    axis.plot(x, y, color=GREY, lw=0.8)
    colours = [COLOURS[group[k]] for k in tree.leaf_order]
    axis.barh(np.arange(n), 0.55, 1.0, left=-0.65, color=colours, linewidth=0)
    axis.set_xlim(level.max() + 0.2, -0.8)
    axis.set_ylim(n, -1)
    axis.axis("off")
