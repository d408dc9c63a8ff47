"""Colours of the page: two themes, and scales that are safe for colour-blind people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from bokeh.palettes import Viridis256
from numpy.typing import NDArray

from hcviz.core.tree_colours import BRANCH_COLOUR, CLUSTER_COLOURS

#: Index of a missing cell in every uint8 image.
MISSING = 255


@dataclass(frozen=True)
class Theme:
    """Colours of the tree and the heatmap; ``tokens.css`` has the same values."""

    name: str
    ink: str  # text
    soft: str  # secondary text
    branch: str  # the tree
    rule: str  # hairlines
    paper: str  # background
    raised: str  # background of tooltips
    accent: str  # selection, and nothing else
    fresh: str  # clades that just changed
    together: str
    apart: str
    missing: str
    query_mask: str  # over similarities that were never queried
    costs: tuple[str, ...]  # a node's share of the cost, from little to much
    clusters: tuple[str, ...]  # chosen like those on white: see core/tree_colours.py


LIGHT = Theme(
    name="light",
    ink="#1d2530",
    soft="#52606f",
    branch=BRANCH_COLOUR,
    rule="#d5dbe1",
    paper="#ffffff",
    raised="#ffffff",
    accent="#0b63b5",
    fresh="#c77700",
    together="#00735a",
    apart="#b8420f",
    missing="#c9ced4",
    query_mask="#10151b",
    costs=("#b8860b", "#d2691e", "#c2185b", "#5b1a8b"),
    clusters=CLUSTER_COLOURS,
)
DARK = Theme(
    name="dark",
    ink="#e6ebf0",
    soft="#b0bbc6",
    branch="#8f9ba8",
    rule="#36414c",
    paper="#14191f",
    raised="#262f38",
    accent="#6cb4ff",
    fresh="#ffc14d",
    together="#4fd6b0",
    apart="#ff9a6b",
    missing="#4a535d",
    query_mask="#05080b",
    costs=("#9a8648", "#e0963c", "#ff7f8f", "#f3c4ff"),
    clusters=(
        "#e8919f", "#5fbf7a", "#a89bf5", "#cfcf6a", "#d97fb0", "#6fd6c5", "#e39ade", "#8fd3f4",
        "#255ce8", "#bd3403", "#88578c", "#e7f3df", "#f74807", "#688767", "#9470cd", "#b7fd77",
    ),
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}

#: The colour-blind-safe colours of Okabe & Ito (2008); grey comes last.
OKABE_ITO = (
    "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999",
)  # fmt: skip
#: Paul Tol's discrete rainbow: up to 22 classes, which differ in lightness as well as in hue.
RAINBOW = (
    "#d9cce3", "#caaccb", "#ba8db4", "#aa6f9e", "#994f88", "#882e72", "#1965b0", "#437dbf",
    "#6195cf", "#7bafde", "#4eb265", "#90c987", "#cae0ab", "#f7f056", "#f7cb45", "#f4a736",
    "#ee8026", "#e65518", "#dc050c", "#a5170e", "#72190e", "#42150a",
)  # fmt: skip


def class_colours(count: int) -> tuple[str, ...]:
    """Return a colour for each of ``count`` classes; classes after the 22nd share a grey."""
    if count <= len(OKABE_ITO):
        return OKABE_ITO[:count]
    if count <= len(RAINBOW):
        picks = np.linspace(0, len(RAINBOW) - 1, count).round().astype(int)
        return tuple(RAINBOW[i] for i in picks)
    return RAINBOW + ("#999999",) * (count - len(RAINBOW))


def sequential(theme: Theme) -> list[str]:
    """Return 256 colours: viridis, which is perceptually uniform; the last is a missing cell."""
    picks = np.linspace(0, 255, MISSING).round().astype(int)
    return [Viridis256[i] for i in picks] + [theme.missing]


def diverging(theme: Theme) -> list[str]:
    """Return 256 colours, from blue through the background to orange; the last is a missing cell.

    Colour-blind people can distinguish blue and orange.
    """
    stops = (
        ("#0f4c8a", "#5b9bd1", "#f4f4f2", "#e0964a", "#8a3d00")
        if theme.name == "light"
        else ("#8fc7ff", "#3a75ad", "#1f262d", "#b8702a", "#ffc285")
    )
    return [*blend(stops, MISSING), theme.missing]


def blend(stops: Sequence[str], count: int) -> list[str]:
    """Return ``count`` evenly spaced colours through ``stops``, mixed in the OKLab space."""
    lab = np.array([_oklab(stop) for stop in stops])
    where = np.linspace(0, len(stops) - 1, count)
    mixed = np.stack([np.interp(where, np.arange(len(stops)), lab[:, k]) for k in range(3)], 1)
    return [_hex(row) for row in mixed]


def muted(theme: Theme) -> Theme:
    """Return the theme with faint colours for everything but the selection."""
    line = blend((theme.branch, theme.missing), 4)[2]
    return replace(
        theme, ink=theme.branch, soft=theme.branch, branch=line,
        costs=(line,) * len(theme.costs), clusters=(line,) * len(theme.clusters),
    )  # fmt: skip


_TO_LMS = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                    [0.2119034982, 0.6806995451, 0.1073969566],
                    [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
_TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                    [1.9779984951, -2.4285922050, 0.4505937099],
                    [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip


def rgb(colour: str) -> NDArray[np.float64]:
    """Return ``#rrggbb`` as three floats from 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def _oklab(colour: str) -> NDArray[np.float64]:
    value = rgb(colour)
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(_TO_LAB @ np.cbrt(_TO_LMS @ linear))


def _hex(lab: NDArray[np.float64]) -> str:
    linear = np.linalg.solve(_TO_LMS, np.linalg.solve(_TO_LAB, lab) ** 3).clip(0, 1)
    value = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * c):02x}" for c in value.clip(0, 1))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2)."""
    value = rgb(colour)
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast ratio of two colours, from 1 to 21."""
    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)
