"""Sampled trees before and after an answer, and where a subtree may go (Vikram & Dasgupta 2016)."""

from __future__ import annotations

import hcviz
from figures.drawing import BLUE, GREY, Frame, draw_tree, new_figure
from hcviz.posterior import Posterior

ANIMALS = ["bear", "dolphin", "lion", "carp", "tuna", "gull", "duck", "penguin", "frog"]
ANSWER = ("dolphin", "bear", "carp")


def problem() -> hcviz.Problem:
    """Nine animals of the Zoo data."""
    zoo = hcviz.datasets.load("zoo")
    rows = [list(zoo.labels).index(animal) for animal in ANIMALS]
    return hcviz.Problem(features=zoo.problem().features[rows], labels=ANIMALS)


def posterior(asked: hcviz.Problem) -> Posterior:
    """The posterior of one chain of 60,000 proposals."""
    found = Posterior(len(ANIMALS))
    for snapshot in hcviz.run("ddt", asked, seed=0, steps=60_000, every=30):
        if snapshot is not None:
            found.add(snapshot.tree, snapshot.metrics["log_joint"])
    return found


def regraft(rest: hcviz.Tree, branch: int, item: str) -> hcviz.Tree:
    """The tree with one more item, on the branch above a node."""

    def text(node: int) -> str:
        below = rest.children(node) if node >= rest.n_leaves else []
        inner = f"({','.join(text(int(child)) for child in below)})" if len(below) else ""
        inner = inner or rest.labels[node]
        return f"({inner},{item})" if node == branch else inner

    return hcviz.Tree.from_newick(text(rest.root) + ";", ANIMALS)


def frames() -> list[Frame]:
    free, told = problem(), problem().with_triplets([ANSWER])
    before, after = posterior(free), posterior(told)
    mammals = [ANIMALS.index(each) for each in ("bear", "dolphin", "lion")]
    swimmers = [ANIMALS.index(each) for each in ("dolphin", "carp", "tuna")]

    def share(found: Posterior, items: list[int]) -> str:
        return f"{100 * found.clade_support(items):.0f} %"

    return [
        _supports(
            before,
            "Before any answer.",
            f"Dolphin, carp and tuna are a clade in {share(before, swimmers)} of the sampled "
            f"trees; dolphin, bear and lion in {share(before, mammals)}. The numbers are supports, "
            "in per cent.",
        ),
        _pruned(told, after.summary_tree().with_labels(ANIMALS), "dolphin"),
        _supports(
            after,
            "After the answer.",
            "All sampled trees keep the answer. Dolphin, bear and lion are a clade in "
            f"{share(after, mammals)} of them, although the answer does not name the lion.",
        ),
    ]


def _supports(found: Posterior, title: str, caption: str) -> Frame:
    tree = found.summary_tree()
    support = found.support(tree)
    notes = {
        node: f"{100 * support[node - 9]:.0f}" for node in range(9, tree.n_nodes - 1)
    }  # the root has all items
    figure = new_figure()
    axis = figure.subplots()
    draw_tree(axis, tree, ANIMALS, {ANIMALS.index("dolphin"): BLUE}, notes)
    axis.set_title(title, loc="left")
    return Frame(figure, caption)


def _pruned(told: hcviz.Problem, tree: hcviz.Tree, item: str) -> Frame:
    """Colour the branches of the rest by whether the item may be attached there."""
    rest = tree.restrict([k for k, name in enumerate(ANIMALS) if name != item])
    colours = {
        node: BLUE if regraft(rest, node, item).satisfies(told.triplets).all() else GREY
        for node in range(rest.n_nodes)
    }
    figure = new_figure()
    axis = figure.subplots()
    draw_tree(axis, rest, list(rest.labels), colours)
    axis.set_title("Answer: dolphin and bear together, carp apart.", loc="left")
    legal = list(colours.values()).count(BLUE)
    return Frame(
        figure,
        f"One move: {item} is cut off, and may come back on any of the {legal} blue branches. On "
        f"the {len(colours) - legal} grey ones the answer would not hold, so it never goes there.",
    )
