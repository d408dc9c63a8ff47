"""A store with a real runner and no browser."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hcviz.algorithms import get
from hcviz.core.snapshot import Snapshot
from hcviz.jobs import Samples
from hcviz.session.model import DataSpec, Session
from hcviz.ui.state.store import Store


def samples_of(n_items: int, snapshots: Iterable[Snapshot], labels: Any = None) -> Samples:
    """The samples after a run that yielded these snapshots."""
    samples = Samples(n_items)
    add_draws(samples, snapshots, labels)
    return samples


def add_draws(samples: Samples, snapshots: Iterable[Snapshot], labels: Any = None) -> None:
    """Add the trees of snapshots to samples, and make the posterior of the last one."""
    *most, last = snapshots
    for each in most:
        samples.take_tree(each)
    samples.take_tree(last, is_last=True)
    samples.check(labels, is_last=True)


class Loop:
    """The document's thread: callbacks wait here until the test runs them."""

    def __init__(self):
        self.waiting = queue.Queue()

    def schedule(self, callback):
        self.waiting.put(callback)

    def until(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited too long"
            try:
                self.waiting.get(timeout=0.05)()
            except queue.Empty:
                continue


@contextmanager
def over_zoo(loop: Loop, method: str, name: str = "zoo", seed: int = 0) -> Iterator[Store]:
    """The zoo's store, or other data's, whose first run is over; closed afterwards."""
    treats = get(method).constraint_mode({})
    made = Store(Session(method=method, constraint_mode=treats, seed=seed), loop.schedule)
    try:
        assert made.open_data(DataSpec(name=name))
        loop.until(lambda: made.session.status == "settled")
        yield made
    finally:
        made.close()
