"""A planted hierarchy, known through a crowd's noisy answers alone, with pictures to look at.

Whoever tries the page without data of their own can see what 4-AL makes of the answers, and answer
the same question about the same pictures themselves.
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
#: A picture's side in pixels, and how much finer it is drawn before it is made so small.
SIDE, FINER = 72, 4
#: What the three levels of the hierarchy look like: (hue of the petals, their breadth, how many).
_HUES = (("red", 0.0), ("blue", 0.6))
_SHAPES = (("broad", 0.62), ("slim", 0.26))
_PETALS = (5, 9)


def chosen_of_three(
    similarity: NDArray[np.float64], three: NDArray[np.int32], kind: Kind = "central"
) -> NDArray[np.int64]:
    """Which column (0, 1, 2) of each row somebody would choose who knows the similarities.

    ``central``: the item most similar to the other two, by its sum; ``odd``: the one outside the
    most similar pair, whose sum is the least (as the sum of all three pairs is the same for all).
    The first of equals. ``similarity`` float64 (n, n), ``three`` int32 (m, 3). O(m).
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
    """A crowd's answers about three items, int32 (m, 3): the one named, then the other two.

    ``kind``: which is most ``central``, or which is the ``odd`` one out. ``questions`` triples are
    drawn at random, each asked 1 to ``times`` times with even chances; an answer is right with
    probability (1 + eps)/2 (Perrot et al. 2020, section 2), else one of the other two, with even
    chances. Repeats and contradictions come of that. O(questions (n + times)).
    """
    if kind not in ("central", "odd"):
        raise InvalidParameter(f"There is no question {kind!r}.", "Known: central, odd.")
    if not 0 <= eps <= 1:
        raise InvalidParameter(f"eps must be between 0 and 1, not {eps}.")
    if questions < 0 or times < 1 or len(similarity) < 3:
        raise InvalidParameter(
            "A crowd needs three items, 0 or more questions, each asked once or more often."
        )
    rng = np.random.default_rng(seed)
    n = len(similarity)
    three = np.argpartition(rng.random((questions, n)), 2, axis=1)[:, :3].astype(np.int32)
    three = np.repeat(three, rng.integers(1, times + 1, questions), axis=0)
    right = chosen_of_three(similarity, three, kind)
    slips = rng.random(len(three)) >= (1 + eps) / 2
    said = np.where(slips, (right + rng.integers(1, 3, len(three))) % 3, right)
    columns = np.stack([said, (said + 1) % 3, (said + 2) % 3], axis=1)
    return np.take_along_axis(three, columns, axis=1)


def flowers(seed: int = 0) -> Dataset:
    """48 drawn flowers in a planted hierarchy (Ghoshdastidar et al. 2019, L = 3, 6 a cluster) and
    some 2,000 odd ones out of a crowd that errs in 15 of 100. The similarities stay hidden."""
    rng = np.random.default_rng(seed)
    hidden = planted_hierarchy(levels=3, pure_size=6, delta=0.1, sigma=0.05, seed=rng)
    place = rng.permutation(hidden.n_items)  # the order of the list must not tell
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
            "Made by hcviz: a planted hierarchy, known by odd ones out of three of which 15 in "
            "100 are wrong."
        ),
    )


def _flower(group: int, rng: np.random.Generator) -> bytes:
    """A PNG of a flower of one of the eight kinds, no two quite alike."""
    side = SIDE * FINER
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
        draw.polygon(points, fill=_ink(hue, 0.62, light), outline=_ink(hue, 0.8, light - 0.3))
    heart = 0.11 * side
    box = (side / 2 - heart, side / 2 - heart, side / 2 + heart, side / 2 + heart)
    draw.ellipse(box, fill=(247, 201, 72, 255), outline=(150, 105, 20, 255), width=FINER)
    out = io.BytesIO()
    picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()


def _ink(hue: float, saturation: float, light: float) -> tuple[int, int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, light)
    return round(255 * red), round(255 * green), round(255 * blue), 255


__all__ = ["chosen_of_three", "crowd_answers", "flowers"]
