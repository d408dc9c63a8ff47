"""AddS and the semidefinite program with more and more comparisons (Perrot et al. 2020)."""

from __future__ import annotations

import math

import numpy as np

import hcviz
from figures.drawing import Frame, draw_matrix, new_figure
from hcviz.algorithms.comparison.similarities import adds

ITEMS, CLUSTERS, SEED = 80, 4, 3
EXPONENTS = (2.0, 2.5, 3.0, 3.5)


def frames() -> list[Frame]:
    total = hcviz.datasets.count_comparisons(ITEMS, "triplets")
    made = []
    for exponent in EXPONENTS:
        data = hcviz.datasets.planted_partition(
            ITEMS, CLUSTERS, delta=0.7, kind="triplets", seed=SEED,
            p=ITEMS * math.log(ITEMS) ** exponent / total,
        )  # fmt: skip
        truth = np.unique(data.classes, return_inverse=True)[1]
        (*_, found) = hcviz.run("adds-sdp", hcviz.Problem(comparisons=data.comparisons), seed=0)
        order = np.argsort(truth, kind="stable")
        sums = adds(ITEMS, data.comparisons)[np.ix_(order, order)]
        solution = np.asarray(found.views["X"].values)[np.ix_(order, order)]
        curve = found.views["theta by k"]
        figure = new_figure(7.0, 2.7)
        axes = figure.subplots(1, 3)
        draw_matrix(axes[0], sums, "AddS-3", float(np.quantile(np.abs(sums), 0.99)))
        draw_matrix(axes[1], solution, "X, the solution")
        axes[2].plot(curve.x, curve.y, "o-", color="#2a85d0", ms=4)
        axes[2].set(ylim=(0.4, 1.04), xticks=curve.x, xlabel="k", title="score of each k")
        axes[2].patch.set_visible(False)
        axes[2].spines[["top", "right"]].set_visible(False)
        score = hcviz.metrics.adjusted_rand_index(truth, found.labels)
        made.append(
            Frame(
                figure,
                f"{len(data.comparisons):,} triplets, n (ln n)^{exponent:g}, of {total:,}; an "
                f"eighth of them are wrong. SPUR chooses {found.metrics['k']:g} clusters. "
                f"Adjusted Rand index with the {CLUSTERS} true ones: {score:.2f}.",
            )
        )
    return made
