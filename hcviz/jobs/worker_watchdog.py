"""Watch a cluster run without news: report paused workers, and give up without workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot

#: Seconds without a snapshot between two counts of the workers; and seconds without any worker
#: after which the run is given up.
CHECK_SECONDS, GIVE_UP_SECONDS = 1.0, 30.0

Stream = Generator[Snapshot | None, None, None]


def watch_workers(
    stream: Stream, count: Callable[[], tuple[int, int]], on_waiting: Callable[[str], None]
) -> Stream:
    """Yield the stream's snapshots while the cluster has workers.

    Parameters
    ----------
    stream : generator
        Must yield None now and then.
    count : callable
        Returns the number of workers, and how many of them start tasks.
    on_waiting : callable
        Receives a sentence when no worker starts tasks, and an empty text when one does again.

    Raises
    ------
    HcvizError
        If there was no worker for :data:`GIVE_UP_SECONDS` seconds.
    """
    checked, alone, reported = time.monotonic(), 0.0, ""
    try:
        for shown in stream:
            now, known = time.monotonic(), reported
            if shown is not None:
                checked, alone, known = now, 0.0, ""
            elif now - checked > CHECK_SECONDS:
                workers, ready = count()
                alone = 0.0 if workers else alone + now - checked
                checked, known = now, paused_sentence(workers) if workers and not ready else ""
            if known != reported:
                reported = known
                on_waiting(reported)
            if alone > GIVE_UP_SECONDS:
                raise HcvizError(
                    f"The cluster had no worker for {GIVE_UP_SECONDS:g} seconds; the run stopped.",
                    "The last tree is kept. Start workers, and run it again.",
                )
            yield shown
    finally:
        stream.close()


def paused_sentence(workers: int) -> str:
    """Return the sentence that all workers are paused."""
    if workers == 1:
        return (
            "The cluster's only worker is paused; Dask pauses workers that are short of memory. "
            "The run waits until the worker continues."
        )
    return (
        f"All {workers} workers of the cluster are paused; Dask pauses workers that are short of "
        "memory. The run waits until one continues."
    )


__all__ = ["Stream", "paused_sentence", "watch_workers"]
