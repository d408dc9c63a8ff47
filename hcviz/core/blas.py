"""Run dense linear algebra in one thread, for algorithms with many short steps.

BLAS threads wait for each other in busy loops. If another process uses one of the cores, each of
thousands of short products waits for a thread that is not running. Example: a semidefinite program
over 1,000 items took 45 to 77 s on two busy cores, and 3.5 s on one of them.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Yielded = TypeVar("Yielded")
Returned = TypeVar("Returned")

#: The limit applies to the whole process, so only one thread at a time may set and restore it.
_limit_lock = threading.Lock()


def one_thread(
    steps: Generator[Yielded, None, Returned],
) -> Generator[Yielded, None, Returned]:
    """Limit BLAS to one thread during each step of a generator.

    Parameters
    ----------
    steps : generator
        Its steps are computed with one BLAS thread.

    Yields
    ------
    object
        What ``steps`` yields. Between steps BLAS has its former number of threads.

    Returns
    -------
    object
        What ``steps`` returns.

    Notes
    -----
    If another Python thread already holds the limit, a step runs under that limit. About 12
    microseconds for each step.
    """
    try:
        while True:
            with _limited_to_one():
                try:
                    value = next(steps)
                except StopIteration as end:
                    result: Returned = end.value
                    return result
            yield value
    finally:
        steps.close()


@contextmanager
def _limited_to_one() -> Iterator[None]:
    if not _limit_lock.acquire(blocking=False):
        yield
        return
    try:
        with controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limit_lock.release()


@cache
def controller() -> ThreadpoolController:
    """Return the controller of the BLAS libraries of numpy and scipy. About 4 ms."""
    import scipy.linalg  # noqa: F401  (the controller finds only loaded libraries)

    return ThreadpoolController()


__all__ = ["controller", "one_thread"]
