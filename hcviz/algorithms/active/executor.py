"""``TaskExecutor``: runs the tasks of a recursion on threads, or on the workers of Dask.

The result of a task depends on its arguments alone. A task is one of two functions: the sums of
similarities of some items (:func:`queries.tallied`), or the whole tree of a set
(:func:`recursion.build_subtree`).
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int32]


class TaskExecutor(Protocol):
    """The interface of an executor of tasks."""

    def parts(self, items: Int, stride: int) -> list[slice]:
        """Cut ``items`` (increasing) into slices of about ``stride``, the rows of one tally."""

    def tally(self, oracle: Any, *args: Any) -> Future[Any]:
        """Submit :func:`queries.tallied` with these arguments."""

    def build_subtree(self, oracle: Any, *args: Any) -> Future[Any]:
        """Submit :func:`recursion.build_subtree` with these arguments."""

    def collect(self, future: Future[Any], oracle: Any) -> Any:
        """Return a task's result, and add its queries to the counts of ``oracle``."""

    def close(self) -> None:
        """Cancel all tasks."""


__all__ = ["TaskExecutor"]
