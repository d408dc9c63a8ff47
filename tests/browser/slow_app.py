"""Items whose similarities take a while each time that some are asked for: a run to watch."""

import time

import numpy as np

import hcviz
from hcviz.datasets import Dataset, noisy_blocks

#: Seconds that each question takes.
PAUSE = 0.05
drawn = noisy_blocks(200, levels=3, seed=1)
items = np.arange(200, dtype=np.int32)


class Slow:
    """Answers after a pause."""

    n_items = 200

    def similarity(self, rows, cols):
        time.sleep(PAUSE)
        return drawn.oracle.similarity(rows, cols)


data = Dataset(
    name="slow",
    title="Slow answers",
    labels=drawn.labels,
    similarity=drawn.oracle.similarity(items, items),
    target=drawn.target,
    oracle=Slow(),
)
page = hcviz.explore(data, method="active-spectral")
page.servable()
