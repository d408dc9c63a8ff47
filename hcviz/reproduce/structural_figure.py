"""Drawing of the experiment of Chatziafratis et al. (2018): table 1, and effects of constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Method -> colour (Okabe and Ito), title.
STYLES = {
    "crsc": ("#0072b2", "recursive cut"),
    "refined": ("#56b4e9", "the same, cuts refined"),
    "search": ("#d55e00", "search"),
    "hrsc": ("#009e73", "answers at a price"),
}
DASHES = ("-", "--", ":")


def draw(result: dict[str, Any], features: int, files: list[Path]) -> None:
    """Draw four panels with costs in per cent above OPT, and save them in ``files``."""
    figure = Figure(figsize=(11.0, 7.6), layout="constrained")
    FigureCanvasAgg(figure)
    table, nested, random, wrong = figure.subplots(2, 2).ravel()
    _table(table, result["table"])
    largest = max(int(n) for n in result["table"])
    opt = result["table"][str(largest)]["opt"]
    rows = [r for r in result["nested"] if (r["animals"], r["features"]) == (largest, features)]
    _curves(nested, rows, "told", opt)
    nested.set_title(f"{largest} animals, constraints: first cuts of T*")
    nested.set_xlabel("cuts")
    nested.set_xticks(sorted({r["told"] for r in rows}))
    _curves(random, result["random"], "told", opt)
    random.set_xscale("log")
    random.set_title("constraints: random triplets of T*")
    random.set_xlabel("triplets")
    _curves(wrong, result["wrong"], "wrong", opt)
    wrong.set_title("constraints: answers, some of them wrong")
    wrong.set_xlabel("share of wrong answers")
    for axis in (table, nested, random, wrong):
        axis.set_ylabel("cost, per cent above OPT")
        axis.grid(axis="y", alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
    for file in files:
        figure.savefig(file)


def _table(axis: Axes, table: dict[str, Any]) -> None:
    """Draw the paper's costs and ours side by side."""
    place = np.arange(len(table))
    looks = (
        ("paper", "unconstrained", "#bbbbbb"),
        ("ours", "unconstrained", "#666666"),
        ("paper", "constrained", "#9ad0f0"),
        ("ours", "constrained", "#0072b2"),
    )
    for k, (who, what, colour) in enumerate(looks):
        height = []
        for row in table.values():
            from_row = row["paper"] if who == "paper" else row
            height.append(100 * (from_row[what] / from_row["opt"] - 1))
        axis.bar(place + 0.2 * (k - 1.5), height, 0.19, color=colour, label=f"{what}, {who}")
    axis.set_xticks(place, [f"{n} animals" for n in table])
    axis.set_ylim(top=1.35 * axis.get_ylim()[1])  # room for the legend
    axis.set_title("Table 1")


def _curves(axis: Axes, rows: list[dict[str, Any]], across: str, opt: float) -> None:
    """Draw the mean of each method and price, with a band from minimum to maximum."""
    kinds = list(dict.fromkeys((r["method"], r["lam"]) for r in rows))
    prices = sorted({lam for _, lam in kinds if lam is not None})
    for method, lam in kinds:
        found = sorted((r for r in rows if (r["method"], r["lam"]) == (method, lam)),
                       key=lambda r: r[across])  # fmt: skip
        colour, label = STYLES[method]
        dashes = "-" if lam is None else DASHES[prices.index(lam) % len(DASHES)]
        x = [r[across] for r in found]
        mean, least, greatest = (
            [100 * (r[name] / opt - 1) for r in found] for name in ("cost", "least", "greatest")
        )
        name = label if lam is None else f"{label}, lam {lam:g}"
        axis.plot(x, mean, dashes, color=colour, label=name, lw=1.4, marker="o", ms=3)
        axis.fill_between(x, least, greatest, color=colour, alpha=0.10, lw=0)
