"""Dense linear algebra held to one thread, where its steps are many and short.

The threads of BLAS wait for each other by spinning. Where another process has one of the cores,
each of thousands of short products waits for a thread that is not running: a semidefinite program
over 1,000 items took 45 to 77 s on two busy cores instead of 3.5 s on one of them, and the page's
own workers are enough to keep cores busy.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Said = TypeVar("Said")
Made = TypeVar("Made")

#: The limit is the process's, and one who leaves gives back what it found: so one at a time has it.
_limited = threading.Lock()


def one_thread(steps: Generator[Said, None, Made]) -> Generator[Said, None, Made]:
    """The same generator, whose steps have one thread of BLAS each; between them its user has as
    many as before, unless another thread is inside such a step. 12 microseconds a step."""
    try:
        while True:
            with _one():
                try:
                    said = next(steps)
                except StopIteration as end:
                    made: Made = end.value
                    return made
            yield said
    finally:
        steps.close()


@contextmanager
def _one() -> Iterator[None]:
    if not _limited.acquire(blocking=False):
        yield
        return
    try:
        with controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limited.release()


@cache
def controller() -> ThreadpoolController:
    """Looks through the libraries loaded so far, some 4 ms: numpy's and scipy's."""
    import scipy.linalg  # noqa: F401  (so that it is among them)

    return ThreadpoolController()


__all__ = ["controller", "one_thread"]
