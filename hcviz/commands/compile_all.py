"""The command ``hcviz warm``, which compiles all kernels before they are needed."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import threading
import time
from pathlib import Path

from hcviz.core.errors import HcvizError
from hcviz.core.jit import cache_dir, cached_share, kernel_sources
from hcviz.jobs.warming import warm_first_picture, warm_modules

#: Seconds between two lines of progress.
INTERVAL = 5.0


def compile_all(options: argparse.Namespace) -> None:
    """Compile with two processes, and say how far it is and where the kernels are.

    Raises
    ------
    HcvizError
        If the compiled kernels cannot be kept.
    """
    folders = {source: cache_dir(source) for source in kernel_sources()}
    if None in folders.values():
        raise HcvizError(
            "The compiled kernels cannot be kept, since no folder for them can be written.",
            "Name one in the environment variable NUMBA_CACHE_DIR.",
        )
    done = threading.Event()
    reporting = threading.Thread(target=_report, args=(done, time.monotonic()), daemon=True)
    reporting.start()
    # The other process takes the modules backwards; each loads what the other has compiled. The
    # sampler, a third of the whole, comes first, so that one process alone compiles it.
    drawing = ["hcviz.ui.tree.drawing_kernels"]
    other = multiprocessing.get_context("spawn").Process(
        target=warm_modules, kwargs={"backwards": True, "first": drawing}
    )
    other.start()
    try:
        warm_first_picture()
        warm_modules(first=drawing)
        other.join()
    finally:
        other.kill()
        done.set()
    reporting.join()
    paths = [Path(folder) for folder in folders.values() if folder is not None]
    size = sum(file.stat().st_size for path in paths for file in path.rglob("*") if file.is_file())
    print(f"hcviz: all kernels are compiled, in {paths[0].parent} ({size / 1e6:.0f} MB).")


def _report(done: threading.Event, began: float) -> None:
    """Print the progress now and then, until it is done."""
    while not done.wait(INTERVAL):
        seconds = time.monotonic() - began
        print(
            f"hcviz: {100 * cached_share():.0f} % of the files with kernels, {seconds:.0f} s",
            file=sys.stderr,
            flush=True,
        )


__all__ = ["compile_all"]
