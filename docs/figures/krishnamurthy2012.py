"""Which similarities are queried, and what they suffice for (Krishnamurthy et al. 2012)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

import hcviz
from figures.drawing import BLUE, ORANGE, Frame, new_figure
from hcviz.reproduce.active_cases import sampling_patterns

ITEMS = 512
SAMPLES = (8, 12, 16, 24, 32)
CAPTIONS = {
    "first split": "After the first division. Bright rows and columns are the sampled items: they "
    "are compared with all others, to divide these.",
    "second split": "After both halves are divided. Items of different halves are not compared "
    "again.",
    "the end": "The end of the paper's method. Sets of s items or fewer have no inner structure.",
    "ours, the end": "The end of hcviz's own settings. In small sets all pairs are compared, so "
    "the tree goes down to single items, and doubtful placements are checked.",
}


def frames() -> list[Frame]:
    made = []
    for title, mask in sampling_patterns(ITEMS).items():
        figure = new_figure(7.0, 3.2)
        axis = figure.subplots()
        axis.imshow(mask, cmap="cividis", vmin=0, vmax=1, interpolation="none")
        axis.set(xticks=[], yticks=[], xlabel=f"{ITEMS} items, in the order of the true tree")
        made.append(Frame(figure, f"{CAPTIONS[title]} Pairs so far: {100 * mask.mean():.0f} %."))
    figure = new_figure(7.0, 3.0)
    _errors(figure.subplots())
    made.append(
        Frame(
            figure,
            "A larger sample s costs more similarities and errs less. Each point is the mean of "
            "four trees; the number beside it is s.",
        )
    )
    return made


def _errors(axis: Axes) -> None:
    """Draw the share of wrong triplets against that of queried pairs."""
    for variant, colour, name in (
        ("paper", ORANGE, "as in the paper"),
        ("ours", BLUE, "hcviz's own settings"),
    ):
        shares, wrong = [], []
        for s in SAMPLES:
            found = [_tree(s, variant, seed) for seed in range(4)]
            shares.append(100 * np.mean([share for share, _ in found]))
            wrong.append(np.mean([distance for _, distance in found]))
        axis.plot(shares, wrong, "o-", color=colour, ms=4, label=name)
        for x, y, s in zip(shares, wrong, SAMPLES, strict=True):
            shift = (-12, -10) if variant == "paper" else (4, 5)
            axis.annotate(str(s), (x, y), shift, textcoords="offset points", color=colour)
    axis.set(xlabel="pairs queried, per cent", ylabel="wrong triplets", ylim=(-0.012, None))
    axis.legend(frameon=False)
    axis.patch.set_visible(False)
    axis.spines[["top", "right"]].set_visible(False)


def _tree(s: int, variant: str, seed: int) -> tuple[float, float]:
    """The share of queried pairs, and the triplet distance to the true tree."""
    data = hcviz.datasets.noisy_blocks(ITEMS, levels=3, sigma=0.3, seed=seed)
    counted = hcviz.CountingOracle(data.oracle)
    problem = hcviz.Problem(oracle=counted)
    tree = hcviz.fit("active-spectral", problem, seed=seed, s=s, variant=variant)
    return counted.share, hcviz.metrics.triplet_distance(data.target, tree)
