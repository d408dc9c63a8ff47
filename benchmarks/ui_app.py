"""The page with ``n`` planted items, for :mod:`ui_latency`. The URL has ``n``.

    panel serve benchmarks/ui_app.py        then  /ui_app?n=500
    .../ui_app?n=2000&params={"steps":1000000000}    the sampler does not end
    .../ui_app?n=1000000&bare=1&method=random-cut    items without features, but with a tree
    .../ui_app?data=zoo                              without n: a built-in data set

Only the data differ from those of the dashboard.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.datasets import Dataset

FEATURES = 10


def planted(n: int) -> Dataset:
    """Return items at the leaves of a binary hierarchy, the same for the same ``n``.

    Each level separates its clusters. The smallest clusters have about six items.
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
    """Return items without features."""
    return Dataset(
        name=f"bare-{n}", title=f"{n:,} items", labels=tuple(f"item {k}" for k in range(n))
    )


#: Data by name. They stay alive between browser sessions.
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
    from benchmarks.ui_app import KEPT  # the module lives longer than the script of a session

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
