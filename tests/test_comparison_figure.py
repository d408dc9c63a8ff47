"""Figures of the comparison papers: legends cover no panel, and tick labels do not overlap."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from hcviz.reproduce.comparison_figure import draw_hierarchies, draw_partitions

METHODS = ["4-AL-I3", "4-AL-I5", *(f"t-STE-AL, d = {d}" for d in (2, 5, 10)), "FORTE-AL, d = 10"]
PAIRS = [
    f"{name}, {power}"
    for name in ("normal-normal", "uniform-beta", "uniform-normal")
    for power in ("3.0", "4.0")
]


def table(keys: list[str], methods: list[str] = METHODS) -> dict:
    rng = np.random.default_rng(0)
    return {key: {name: [float(rng.random()), 0.1] for name in methods} for key in keys}


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draw a result; return the figure."""
    kept: list[Figure] = []
    save = Figure.savefig

    def keep(figure: Figure, *words: object, **options: object) -> None:
        save(figure, *words, **options)
        kept.append(figure)

    def draw(function, result: dict) -> Figure:
        monkeypatch.setattr(Figure, "savefig", keep)
        function(result, [tmp_path / "figure.png"])
        return kept[-1]

    return draw


def check(figure: Figure) -> None:
    boxes = [axis.get_tightbbox() for axis in figure.axes if axis.axison]
    boxes += [legend.get_window_extent() for legend in figure.legends]
    assert len(figure.legends) == 1
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)


def test_names_of_distributions_do_not_overlap(drawn):
    figure = drawn(
        draw_partitions,
        {"ari by noise": table(["0.25", "1.0"]), "ari by distribution": table(PAIRS)},
    )
    check(figure)
    labels = figure.axes[1].get_xticklabels()
    assert [each.get_text() for each in labels] == PAIRS
    for one, other in pairwise(labels):  # turned by 35 degrees: further apart than a line is high
        gap = abs(other.get_window_extent().x1 - one.get_window_extent().x1)
        height = one.get_fontsize() * figure.dpi / 72
        assert one.get_rotation() == 35
        assert gap * np.sin(np.radians(35)) > height


def test_a_method_has_one_colour_and_one_line_of_the_legend(drawn):
    planted = {"0.01": table(["0.02", "0.2"]), "all": table(["0.02", "0.2"], ["SL", "CL"])}
    cost = {"zoo": table(["0.01", "0.03"], METHODS[::-1]), "glass": table(["0.01", "0.03"])}
    figure = drawn(draw_hierarchies, {"planted": planted, "cost": cost})
    check(figure)
    names = [each.get_text() for each in figure.legends[0].get_texts()]
    assert sorted(names) == sorted([*METHODS, "SL", "CL"])
    for method in METHODS:
        colours = {
            handle[0].get_color()
            for axis in figure.axes
            for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)
            if name == method
        }
        assert len(colours) == 1
