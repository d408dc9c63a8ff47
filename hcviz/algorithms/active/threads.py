"""``Threads``: a crew of threads in this process."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.active.asking import strides, tallied
from hcviz.algorithms.active.growth import finished

Int = NDArray[np.int32]


class Threads:
    """A crew of threads; they share the oracle."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "hcviz-active")
        self._halted = threading.Event()

    def parts(self, items: Int, stride: int) -> list[slice]:
        return strides(len(items), stride)

    def tally(self, oracle: Any, *given: Any) -> Future[Any]:
        return self._pool.submit(tallied, oracle, *given)

    def finish(self, oracle: Any, *given: Any) -> Future[Any]:
        task = partial(finished, unless=self._halted.is_set)
        return self._pool.submit(task, oracle, *given)

    def collect(self, future: Future[Any], oracle: Any) -> Any:
        return future.result()

    def close(self) -> None:
        self._halted.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


__all__ = ["Threads"]
