"""Draw the pictures of docs/reading-the-tree.md: ``python tools/make_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hcviz
from hcviz.core.alignment import aligned_order
from hcviz.core.layout import leaf_order, with_even_heights
from hcviz.io.picture import ClassStrip, draw_picture
from hcviz.ui.parts.palette import class_colours

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: Every third animal is drawn, so that the picture fits on a screen.
STEP = 3


def main() -> None:
    zoo = hcviz.datasets.load("zoo")
    chosen = np.arange(0, len(zoo.labels), STEP)
    features = zoo.problem().features[chosen]
    labels = [zoo.labels[k] for k in chosen]
    problem = hcviz.Problem(features=features, labels=labels)
    posterior = hcviz.sample(problem, seconds=120)
    summary = posterior.summary_tree()
    average = hcviz.fit("average", problem)
    first = leaf_order(summary)
    kinds, codes = np.unique(np.asarray(zoo.classes)[chosen], return_inverse=True)
    strip = ClassStrip("class", codes.astype(np.uint8), (), class_colours(kinds.size))
    for name, tree in (("zoo", summary), ("average", average)):
        drawn = draw_picture(
            with_even_heights(tree),
            labels,
            order=aligned_order(tree, first),
            strips=[strip],
            support=posterior.support(tree),
            axis_title="even heights",
            title=f"{len(labels)} animals of the Zoo data",
        )
        (DOCS / f"reading-{name}.svg").write_bytes(drawn)
    print(f"supports accurate to {posterior.accuracy:.3f}, settled: {posterior.settled}")


if __name__ == "__main__":
    main()
