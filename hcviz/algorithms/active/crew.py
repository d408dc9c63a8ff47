"""``Crew``: what does the tasks of a recursion. There are crews of threads and of Dask's workers.

A task is a function of its arguments alone: the averages of some items, or a set divided to its
leaves.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int32]


class Crew(Protocol):
    """Who does tasks.

    ``parts`` says how a placement of ``items`` (increasing) is shared out, about ``stride`` of them
    each: the rows of one ``tally``. ``tally`` and ``finish`` take the arguments of
    :func:`asking.tallied` and :func:`growth.finished`; ``collect`` is the result, once it is there,
    the oracle having been told of what was asked elsewhere; ``close`` leaves off whatever is under
    way.
    """

    def parts(self, items: Int, stride: int) -> list[slice]: ...

    def tally(self, oracle: Any, *given: Any) -> Future[Any]: ...

    def finish(self, oracle: Any, *given: Any) -> Future[Any]: ...

    def collect(self, future: Future[Any], oracle: Any) -> Any: ...

    def close(self) -> None: ...


__all__ = ["Crew"]
