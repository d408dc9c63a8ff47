"""Items whose similarity is a function of one's own, which takes a while for each pair."""

import os
import time
from pathlib import Path

import numpy as np

import hcviz
from hcviz.datasets import noisy_blocks

#: The function is slow until this file is there: a run of 80 items asks for some 2,500 pairs.
QUICK = Path(os.environ["HCVIZ_TEST_QUICK"])
#: Seconds a pair, slow and quick.
PAUSES = 0.03, 0.003
n = 80
drawn = noisy_blocks(n, levels=2, seed=1)
names = [f"text {k}" for k in range(n)]
calls = []


def alike(one, other):
    """A numpy number, as users' functions return them."""
    calls.append((one, other))
    print(f"CALL {len(calls)}", flush=True)
    time.sleep(PAUSES[QUICK.exists()])
    i, j = (np.array([int(name.split()[1])], np.int32) for name in (one, other))
    return np.array(drawn.oracle.similarity(i, j)[0, 0])


problem = hcviz.Problem(labels=names, oracle=hcviz.FunctionOracle(alike, names))
page = hcviz.explore(problem, method="active-spectral")
page.servable()
