"""``warm``: start the workers and compile the kernels at a server's start."""

from __future__ import annotations

import threading

from hcviz.jobs.compiling import COMPILING
from hcviz.jobs.pool import POOL
from hcviz.jobs.shared_pool import SHARED
from hcviz.jobs.warming import warm_modules

_warming: threading.Thread | None = None


def warm(wait: bool = False) -> None:
    """Start the workers and compile the kernels in the background, once, at a server's start.

    The workers come first. Those of samplers compile what the first picture needs, and the others
    begin at the last module. They write compiled kernels to the cache on disk, and this process
    then only loads them. So the compiler never blocks the page.
    """
    global _warming

    def work() -> None:
        with COMPILING.running():
            POOL.fill()
            SHARED.start(wait=True)
            POOL.fill(wait=True)
            warm_modules()

    if _warming is None:
        _warming = threading.Thread(target=work, name="hcviz-warm", daemon=True)
        _warming.start()
    if wait:
        _warming.join()
