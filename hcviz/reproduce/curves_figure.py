"""Drawing of learning curves: triplet distance and log joint, in one row per data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Colours for all kinds of colour vision (Okabe and Ito), and dashes.
STYLES = {
    "simple": ("#999999", "-"),
    "smart": ("#000000", "-"),
    "random": ("#56b4e9", "--"),
    "active": ("#e69f00", "--"),
    "interleaved": ("#0072b2", "-"),
    "informative": ("#d55e00", "-"),
    "vanilla": ("#cc79a7", ":"),
}


def draw(everything: Any, found: Any, proposals: int, files: list[Path]) -> None:
    """Draw means over the runs with bands from minimum to maximum, and save them in ``files``."""
    figure = Figure(figsize=(11.0, 3.6 * len(everything)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(everything), 2, squeeze=False)
    for case, (left, right) in zip(everything, axes, strict=True):
        curves = found[case.key]
        for kind, (colour, dashes) in STYLES.items():
            if kind not in curves:
                continue
            for axis, values in (
                (left, [one.td for one in curves[kind]]),
                (right, [one.log_joint for one in curves[kind]]),
            ):
                table = np.array(values)
                x = np.arange(table.shape[1])
                axis.plot(x, table.mean(axis=0), dashes, color=colour, label=kind, lw=1.4)
                low, high = table.min(axis=0), table.max(axis=0)
                axis.fill_between(x, low, high, color=colour, alpha=0.12, lw=0)
        left.axhline(case.average, color="#009e73", ls="-.", label="average linkage")
        left.set_ylim(bottom=0)
        left.set_ylabel("triplet distance")
        right.set_ylabel("log joint density")
        # The first tree has a very low density and would hide the other values.
        settled = np.concatenate([one.log_joint[1:] for each in curves.values() for one in each])
        right.set_ylim(*np.quantile(settled, [0.005, 1.0]))
        each = proposals * case.problem.n_items

        def forth(k: Any, each: int = each) -> Any:
            return (np.asarray(k) + 1) * each / 1e6

        def back(millions: Any, each: int = each) -> Any:
            return np.asarray(millions) * 1e6 / each - 1

        for axis in (left, right):
            axis.set_title(f"{case.title} ({case.problem.n_items})", fontsize=10)
            axis.set_xlabel("answers")
            over = axis.secondary_xaxis("top", functions=(forth, back))
            over.set_xlabel("iterations (proposals), millions", fontsize=8)
            over.tick_params(labelsize=7)
    axes[0, 0].legend(fontsize=8, ncols=2)
    for file in files:
        figure.savefig(file, dpi=130)
