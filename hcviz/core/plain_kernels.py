"""Kernels as plain Python, for threads that cannot wait until a kernel is compiled.

numba compiles a kernel at its first call, which takes up to seconds. A server with an empty cache
lets its workers compile. Meanwhile its pages draw small data with the Python functions of the
kernels. These give the same results, but for the last digits of sums: ``PLAIN_TESTS`` in the
Makefile. A kernel is called in its compiled form as soon as a worker has written it to the cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core.dispatcher import OmittedArg

#: Numbers in the arrays of a call at most. With more, a kernel is compiled first. Python takes
#: about a microsecond for each, compiling takes about a second for each kernel.
MAX_NUMBERS = 250_000


class _ThreadState(threading.local):
    """What applies to the kernels that this thread calls."""

    def __init__(self) -> None:
        self.prefers_plain: Callable[[], bool] = lambda: False
        self.is_inside = False  # a kernel that runs as plain Python calls others


_THREAD = _ThreadState()


def prefer_plain_kernels(while_: Callable[[], bool]) -> None:
    """Let this thread run kernels that are not in the cache as plain Python, while it is true."""
    _THREAD.prefers_plain = while_


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Let this thread run kernels that are not in the cache as plain Python, within the block."""
    before = _THREAD.prefers_plain
    prefer_plain_kernels(lambda: True)
    try:
        yield
    finally:
        prefer_plain_kernels(before)


def is_called_by_plain() -> bool:
    """Return True if a kernel that runs as plain Python calls another on this thread."""
    return _THREAD.is_inside


def may_run_plain(arguments: tuple[Any, ...]) -> bool:
    """Return True if this thread prefers plain Python, and the arguments are small enough."""
    return _THREAD.prefers_plain() and _count_numbers(arguments) <= MAX_NUMBERS


def _count_numbers(argument: Any) -> int:
    """Return how many numbers are in an array, or in the arrays of a tuple."""
    if isinstance(argument, np.ndarray):
        return argument.size
    return sum(map(_count_numbers, argument)) if isinstance(argument, tuple) else 0


def call_plain(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the Python function of a kernel. As in compiled code, overflow gives no warning."""
    given = [each.value if isinstance(each, OmittedArg) else each for each in arguments]
    before, _THREAD.is_inside = _THREAD.is_inside, True
    try:
        with np.errstate(all="ignore"):
            return function(*given)
    finally:
        _THREAD.is_inside = before


__all__ = [
    "MAX_NUMBERS",
    "call_plain",
    "is_called_by_plain",
    "may_run_plain",
    "plain_kernels",
    "prefer_plain_kernels",
]
