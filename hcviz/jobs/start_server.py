"""``warm``: start the workers and compile the kernels at a server's start."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack

from hcviz.core.plain_kernels import prefer_plain_kernels
from hcviz.jobs.compiling import COMPILING
from hcviz.jobs.pool import POOL
from hcviz.jobs.shared_pool import SHARED
from hcviz.jobs.warming import warm_modules

_warming: threading.Thread | None = None


def warm(wait: bool = False, first: Sequence[str] = ()) -> None:
    """Start the workers and compile the kernels in the background, once, at a server's start.

    The workers come first. Those of samplers compile what the first picture needs. The others begin
    with the modules ``first``, and then at the last module. They write compiled kernels to the
    cache on disk, and this process then only loads them. So the compiler never blocks the page.
    The calling thread, which is that of the pages, uses plain Python meanwhile.
    """
    global _warming
    if _warming is None:
        progress = ExitStack()
        progress.enter_context(COMPILING.running())
        SHARED.start_first()  # a page that opens at once finds it
        use_plain_kernels_while_compiling()
        _warming = threading.Thread(
            target=_start_workers, args=[progress, first], name="hcviz-warm", daemon=True
        )
        _warming.start()
    if wait:
        _warming.join()


def _start_workers(progress: ExitStack, first: Sequence[str]) -> None:
    with progress:
        POOL.warm_first = tuple(first)
        POOL.fill(wait=COMPILING.is_running)  # further processes would compile the same kernels
        SHARED.start(wait=True)
        POOL.fill(wait=True)
        warm_modules(first=first)


def use_plain_kernels_while_compiling() -> None:
    """Let this thread use plain Python for kernels that the workers have not compiled yet."""
    prefer_plain_kernels(while_=lambda: COMPILING.is_running)
