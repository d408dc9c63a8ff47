"""Simulated answers of a crowd, and a data set of drawn flowers that is known by such answers.

The flowers have a planted hierarchy. Users of the page can answer the same questions about them.
"""

from __future__ import annotations

import colorsys
import io
import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from hcviz.core.errors import InvalidParameter
from hcviz.core.triplets import Comparisons
from hcviz.datasets.dataset import Dataset
from hcviz.datasets.planted import planted_hierarchy

Kind = Literal["central", "odd"]
#: Side of a picture in pixels, and the factor by which it is drawn larger first (antialiasing).
SIDE, OVERSAMPLING = 72, 4
#: The three levels of the hierarchy: hue of the petals, their breadth, and their number.
_HUES = (("red", 0.0), ("blue", 0.6))
_SHAPES = (("broad", 0.62), ("slim", 0.26))
_PETALS = (5, 9)


def choose_of_three(
    similarity: NDArray[np.float64], three: NDArray[np.int32], kind: Kind = "central"
) -> NDArray[np.int64]:
    """Return the column (0, 1 or 2) of the right answer in each row. O(m).

    Parameters
    ----------
    similarity : float64 (n, n)
        The true similarity.
    three : int32 (m, 3)
        Items of each question.
    kind : {"central", "odd"}
        ``central`` is the item with the largest sum of similarities to the other two. ``odd`` is
        the item outside the most similar pair. Ties go to the first column.

    Returns
    -------
    int64 (m,)
        The columns.
    """
    pair = [similarity[three[:, a], three[:, b]] for a, b in ((0, 1), (0, 2), (1, 2))]
    if kind == "odd":
        return np.asarray(2 - np.argmax(np.stack(pair, axis=1), axis=1))
    sums = np.stack([pair[0] + pair[1], pair[0] + pair[2], pair[1] + pair[2]], axis=1)
    return np.asarray(np.argmax(sums, axis=1))


def crowd_answers(
    similarity: NDArray[np.float64],
    questions: int,
    kind: Kind = "central",
    times: int = 1,
    eps: float = 0.7,
    seed: int | np.random.Generator = 0,
) -> NDArray[np.int32]:
    """Return simulated answers of a crowd about three items each.

    Parameters
    ----------
    similarity : float64 (n, n)
        The true similarity.
    questions : int
        Number of random triples of items.
    kind : {"central", "odd"}
        The question: which item is the most central, or which is the odd one out?
    times : int
        Each triple is asked 1 to ``times`` times, with equal probabilities.
    eps : float
        An answer is right with probability (1 + eps)/2. Otherwise, it is one of the other two items
        with equal probabilities. So answers may repeat or contradict each other.
    seed : int or numpy Generator
        Source of randomness.

    Returns
    -------
    int32 (m, 3)
        The chosen item, then the other two.

    Raises
    ------
    InvalidParameter
        If the kind is unknown, a number is out of range, or there are fewer than three items.

    Notes
    -----
    O(questions (n + times)).

    References
    ----------
    Perrot, Esser and Ghoshdastidar (2020), section 2, for eps.

    Examples
    --------
    >>> import numpy as np
    >>> crowd_answers(np.eye(5), questions=10).shape
    (10, 3)
    """
    if kind not in ("central", "odd"):
        raise InvalidParameter(f"There is no question {kind!r}.", "Known: central, odd.")
    if not 0 <= eps <= 1:
        raise InvalidParameter(f"eps must be between 0 and 1, not {eps}.")
    if questions < 0 or times < 1 or len(similarity) < 3:
        raise InvalidParameter(
            "crowd_answers needs three or more items, questions >= 0 and times >= 1."
        )
    rng = np.random.default_rng(seed)
    n = len(similarity)
    three = np.argpartition(rng.random((questions, n)), 2, axis=1)[:, :3].astype(np.int32)
    three = np.repeat(three, rng.integers(1, times + 1, questions), axis=0)
    right = choose_of_three(similarity, three, kind)
    wrong = rng.random(len(three)) >= (1 + eps) / 2
    chosen = np.where(wrong, (right + rng.integers(1, 3, len(three))) % 3, right)
    columns = np.stack([chosen, (chosen + 1) % 3, (chosen + 2) % 3], axis=1)
    return np.take_along_axis(three, columns, axis=1)


def flowers(seed: int = 0) -> Dataset:
    """Return 48 drawn flowers, and about 2,000 answers of a crowd to "which is the odd one out?".

    The flowers have the planted hierarchy of Ghoshdastidar et al. (2019) with L = 3 and clusters of
    6 items. Of the answers, 15 in 100 are wrong. The data set does not have the similarities.
    """
    rng = np.random.default_rng(seed)
    hidden = planted_hierarchy(levels=3, pure_size=6, delta=0.1, sigma=0.05, seed=rng)
    place = rng.permutation(hidden.n_items)  # the order of the items must not show the clusters
    assert hidden.target is not None
    assert hidden.similarity is not None
    shown = hidden.similarity[np.ix_(place, place)]
    answers = crowd_answers(shown, 1400, "odd", 2, 0.7, rng)
    group = np.repeat(np.arange(8), 6)[place]
    names = [
        f"{_HUES[g >> 2][0]}, {_SHAPES[(g >> 1) & 1][0]}, {_PETALS[g & 1]} petals"
        for g in group.tolist()
    ]
    where = np.empty(len(place), np.int64)
    where[place] = np.arange(len(place))
    tree = hidden.target
    children = [
        [int(where[c]) if c < tree.n_leaves else c for c in tree.children(node).tolist()]
        for node in range(tree.n_leaves, tree.n_nodes)
    ]
    return Dataset(
        name="flowers",
        title="Flowers, a crowd's answers (48 pictures)",
        labels=tuple(f"flower {k + 1}" for k in range(len(place))),
        classes=names,
        target=type(tree).from_children(children, tree.n_leaves),
        images=[_flower(int(g), rng) for g in group],
        comparisons=Comparisons.from_odd_one_out(answers),
        asked={"odd": len(answers)},
        provenance=(
            "Made by hcviz: a planted hierarchy, known by odd ones out of three, of which 15 in "
            "100 are wrong."
        ),
    )


def _flower(group: int, rng: np.random.Generator) -> bytes:
    """Return a PNG of a flower of one of the eight kinds, with small random variations."""
    side = SIDE * OVERSAMPLING
    picture = Image.new("RGBA", (side, side), (255, 255, 255, 0))
    draw = ImageDraw.Draw(picture)
    hue = (_HUES[group >> 2][1] + rng.uniform(-0.03, 0.03)) % 1.0
    breadth = _SHAPES[(group >> 1) & 1][1] * rng.uniform(0.92, 1.08)
    count = _PETALS[group & 1]
    turn = rng.uniform(0, 2 * math.pi)
    long = 0.46 * side * rng.uniform(0.92, 1.0)
    wide = min(breadth * long, 1.5 * long * math.sin(math.pi / count)) / 2
    light = rng.uniform(0.78, 0.95)
    for k in range(count):
        angle = turn + 2 * math.pi * k / count
        points = []
        for t in np.linspace(0, 2 * math.pi, 40):
            along, across = long / 2 * (1 + math.cos(t)), wide * math.sin(t)
            x = along * math.cos(angle) - across * math.sin(angle)
            y = along * math.sin(angle) + across * math.cos(angle)
            points.append((side / 2 + x, side / 2 + y))
        draw.polygon(points, fill=_rgba(hue, 0.62, light), outline=_rgba(hue, 0.8, light - 0.3))
    heart = 0.11 * side
    box = (side / 2 - heart, side / 2 - heart, side / 2 + heart, side / 2 + heart)
    draw.ellipse(box, fill=(247, 201, 72, 255), outline=(150, 105, 20, 255), width=OVERSAMPLING)
    out = io.BytesIO()
    picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()


def _rgba(hue: float, saturation: float, light: float) -> tuple[int, int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, light)
    return round(255 * red), round(255 * green), round(255 * blue), 255


__all__ = ["choose_of_three", "crowd_answers", "flowers"]
