"""The command ``hcviz warm``, which compiles all kernels before they are needed."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

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
    # The other process takes the modules backwards, until they meet. The sampler, a third of the
    # whole, comes first, so that one process alone compiles it.
    with tempfile.TemporaryDirectory() as folder:
        shared: dict[str, Any] = {
            "first": ["hcviz.ui.tree.drawing_kernels"], "claim": partial(claim, folder),
        }  # fmt: skip
        other = multiprocessing.get_context("spawn").Process(
            target=warm_modules, kwargs={"backwards": True, **shared}
        )
        other.start()
        try:
            warm_first_picture()
            warm_modules(**shared)
            other.join()
        finally:
            other.kill()
            other.join()
            done.set()
    reporting.join()
    paths = [Path(folder) for folder in folders.values() if folder is not None]
    size = sum(file.stat().st_size for path in paths for file in path.rglob("*") if file.is_file())
    print(f"hcviz: all kernels are compiled, in {paths[0].parent} ({size / 1e6:.0f} MB).")


def claim(folder: str, module: str) -> bool:
    """Return True to the first of the processes that asks for a module."""
    try:
        Path(folder, module).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


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
