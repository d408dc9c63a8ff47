"""The explorer on ``n`` planted items, for :mod:`ui_latency`; ``n`` comes in the URL.

    panel serve benchmarks/ui_app.py        then  /ui_app?n=500
    .../ui_app?n=2000&params={"steps":1000000000}    the sampler runs on and on
    .../ui_app?n=1000000&bare=1&method=random-cut    items without features, a tree all the same
    .../ui_app?data=zoo                              without n: a built-in data set

Everything but the data is the dashboard's own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.datasets import Dataset

FEATURES = 10


def planted(n: int) -> Dataset:
    """Items at the leaves of a binary hierarchy: each level of it moves its clusters apart.

    float64 (n, FEATURES), the same for the same ``n``; levels until clusters hold about six items.
    """
    rng = np.random.default_rng(n)
    levels = max(1, int(np.log2(n / 6)))
    leaf = (np.arange(n) * 2**levels) // n
    features = 0.3 * rng.standard_normal((n, FEATURES))
    for level in range(1, levels + 1):
        moves = rng.standard_normal((2**level, FEATURES)) * 2.0 ** (1 - level / 2)
        features += moves[leaf >> (levels - level)]
    return Dataset(
        name=f"planted-{n}",
        title=f"Planted items ({n})",
        labels=tuple(f"item {k}" for k in range(n)),
        features=features,
        classes=tuple(f"cluster {k >> max(0, levels - 3)}" for k in leaf.tolist()),
        provenance="Drawn: Gaussian moves down a binary hierarchy; CC0.",
    )


def bare(n: int) -> Dataset:
    """Items that have nothing but names."""
    return Dataset(
        name=f"bare-{n}", title=f"{n:,} items", labels=tuple(f"item {k}" for k in range(n))
    )


#: The data served so far: those who look at them come and go.
KEPT: dict[str, Any] = {}


def serve() -> None:
    """Put the explorer on the page of the current browser session."""
    import panel as pn

    from hcviz.session.model import DataSpec
    from hcviz.ui import serve_page, warm
    from hcviz.ui.state import data_sources as sources

    warm()
    asked = pn.state.session_args.get("n") if pn.state.session_args else None
    if asked is None:
        serve_page().servable(title="hcviz")
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from benchmarks.ui_app import KEPT  # of the module, which outlives this session's script

    n = int(asked[0])
    name = f"{'bare' if 'bare' in pn.state.session_args else 'planted'}-{n}"
    if name not in KEPT:
        KEPT[name] = bare(n) if name.startswith("bare") else planted(n)
    sources.GIVEN[name] = KEPT[name]
    serve_page(spec=DataSpec(kind="given", name=name)).servable(title="hcviz")


if __name__.startswith("bokeh_app"):
    serve()
elif __name__ == "__main__":  # `make bench` runs every file of this folder
    print(planted(100).title, "is served by ui_latency.py.")
