"""``lower_priority``: computations leave the cores to the thread that serves the pages."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

#: The niceness of threads and processes that compute.
NICENESS = 10


def lower_priority() -> None:
    """Lower the priority of the calling thread, and of the threads that it starts.

    Only Linux has a priority for each thread; elsewhere this does nothing.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


__all__ = ["lower_priority"]
