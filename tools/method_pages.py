"""The page of the documentation that explains each method, with its tree of a few animals.

``docs/conf.py`` writes what :func:`methods_page` returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import hcviz
from hcviz.algorithms import get
from hcviz.core.layout import leaf_order
from hcviz.core.tree import Tree
from hcviz.datasets import Pile, sample_comparisons
from hcviz.side_by_side.drawing import svg_of_tree

ANIMALS = (
    "lion", "wolf", "bear", "dolphin", "seal", "hawk", "crow", "duck", "penguin", "tuna", "carp",
    "pike", "wasp", "moth", "ladybird",
)  # fmt: skip
#: The groups of four participants of a card sort, by the first and the last animal of each.
PILES = ((0, 5, 9, 12), (0, 3, 5, 9, 12), (0, 3, 5, 8, 9, 12), (0, 3, 5, 12))

INTRODUCTION = """# How each method works

Each picture is the method's tree of the same fifteen animals of *Zoo*. A name has the colour of the
animal's class: mammal, bird, fish or insect. Methods of comparisons get 20 % of all comparisons of
the same similarities. Those of card sorts get the piles of four participants. All parameters are
the defaults, but for fewer steps of the sampler.
"""


def methods_page() -> str:
    """Return the page, as Markdown."""
    problem, codes = _animals()
    lines = [INTRODUCTION]
    for name in hcviz.algorithms():
        method = get(name)
        params: dict[str, Any] = {"steps": 20_000} if method.samples else {}
        tree = hcviz.fit(name, problem, **params)
        lines += [f"## {method.title} (`{name}`)", f"{method.summary} {method.how_it_works}"]
        lines += [f"{method.paper}."] if method.paper else []
        lines += [f"```{{raw}} html\n{_picture(tree, codes, method.title)}\n```"]
    return "\n\n".join(lines)


def _animals() -> tuple[hcviz.Problem, Any]:
    """Return a problem with the data of all methods, and the class of each animal."""
    zoo = hcviz.datasets.load("zoo")
    rows = [zoo.labels.index(name) for name in ANIMALS]
    given = hcviz.Problem(labels=ANIMALS, features=zoo.problem().features[rows])
    piles = []
    for who, starts in enumerate(PILES):
        ends = [*starts[1:], len(ANIMALS)]
        for number, (first, end) in enumerate(zip(starts, ends, strict=True)):
            piles.append(Pile(f"participant {who + 1}", f"pile {number}", tuple(range(first, end))))
    problem = hcviz.Problem(
        labels=ANIMALS,
        features=given.features,
        comparisons=sample_comparisons(given.similarity_or_default, 0.2, seed=0),
        piles=piles,
    )
    classes = [str(zoo.classes[row]) for row in rows] if zoo.classes is not None else []
    return problem, np.unique(classes, return_inverse=True)[1]


def _picture(tree: Tree, codes: Any, title: str) -> str:
    """Return the tree as SVG. It has the order of leaves that is nearest to the list above."""
    return svg_of_tree(tree, leaf_order(tree), codes, ANIMALS, f"The tree of {title}")
