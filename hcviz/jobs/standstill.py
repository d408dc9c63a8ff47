"""A run that hears nothing of its cluster: whether there is anybody who takes on work, and if not,
that is said, waited for, or given up."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot

#: Seconds without a snapshot after which the workers are counted, and again; and for which a
#: cluster may be without any.
LOOK, ALONE = 1.0, 30.0

Stream = Generator[Snapshot | None, None, None]


def watched(
    stream: Stream, count: Callable[[], tuple[int, int]], tell: Callable[[str], None]
) -> Stream:
    """What the stream yields, which must be None now and then, as long as there are workers.

    ``count()``: how many there are, and how many of them take on work; ``tell(sentence)``: none
    does, so what has not begun waits, for as long as that may be; an empty one when it is over.
    Raises :class:`HcvizError` once there has been no worker for :data:`ALONE` seconds.
    """
    looked, alone, said = time.monotonic(), 0.0, ""
    try:
        for shown in stream:
            now, known = time.monotonic(), said
            if shown is not None:
                looked, alone, known = now, 0.0, ""
            elif now - looked > LOOK:
                workers, ready = count()
                alone = 0.0 if workers else alone + now - looked
                looked, known = now, paused(workers) if workers and not ready else ""
            if known != said:
                said = known
                tell(said)
            if alone > ALONE:
                raise HcvizError(
                    f"The cluster has had no worker for {ALONE:g} seconds; the run was given up.",
                    "What was shown is kept. Start workers, and run it again.",
                )
            yield shown
    finally:
        stream.close()


def paused(workers: int) -> str:
    """That none of so many workers takes on work, in a sentence."""
    if workers == 1:
        return (
            "The cluster's only worker is paused, as Dask does with one that is short of memory. "
            "What has not begun waits until it goes on."
        )
    return (
        f"All {workers} workers of the cluster are paused, as Dask does with those that are short "
        "of memory. What has not begun waits until one goes on."
    )


__all__ = ["watched"]
