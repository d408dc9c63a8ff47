"""A store with a real runner and no browser."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hcviz.algorithms import get
from hcviz.session.model import DataSpec, Session
from hcviz.ui.state.store import Store


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
