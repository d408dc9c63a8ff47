"""``ThreadExecutor``: runs tasks on threads of this process."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.queries import strides, tallied
from hcviz.algorithms.active.recursion import build_subtree

Int = NDArray[np.int32]


class ThreadExecutor:
    """A :class:`hcviz.algorithms.active.executor.TaskExecutor` of threads that share the oracle."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "hcviz-active")
        self._closed = threading.Event()

    def parts(self, items: Int, stride: int) -> list[slice]:
        return strides(len(items), stride)

    def tally(self, oracle: Any, *args: Any) -> Future[Any]:
        return self._pool.submit(tallied, oracle, *args)

    def build_subtree(self, oracle: Any, *args: Any) -> Future[Any]:
        task = partial(build_subtree, cancelled=self._closed.is_set)
        return self._pool.submit(task, oracle, *args)

    def collect(self, future: Future[Any], oracle: Any) -> Any:
        return future.result()

    def close(self) -> None:
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


__all__ = ["ThreadExecutor"]
