"""``hcviz serve`` that reports its load, for :mod:`load`.

    python benchmarks/load_server.py REPORT [arguments of hcviz serve]

A thread writes the file REPORT five times a second: the running jobs, the longest call on the
event loop since the last signal SIGUSR2, and the number of calls above 20 ms. At SIGUSR1 the
process counts its live objects into the file of the variable HCVIZ_CENSUS.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from asyncio.events import Handle
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hcviz.cli import main  # noqa: E402
from hcviz.jobs.fair_share import LINE  # noqa: E402
from tests import census  # noqa: E402

#: Seconds between two reports, and of a call that counts as long.
PACE, LONG = 0.2, 0.02


class Meter:
    """Measures the calls on the event loop."""

    def __init__(self) -> None:
        self.longest, self.long, self.busy, self.jobs = 0.0, 0, 0.0, 0
        self.stale = False

    def install(self) -> None:
        """Measure each call of asyncio."""
        plain = Handle._run

        def run(handle: Any) -> None:
            began, worked = time.perf_counter(), time.thread_time()
            plain(handle)
            took = time.perf_counter() - began
            if self.stale:  # not in `clear`, which may interrupt these lines
                self.__init__()
            self.busy += time.thread_time() - worked
            self.longest = max(self.longest, took)
            self.long += took > LONG

        Handle._run = run

    def clear(self, *_: Any) -> None:
        """Begin to measure again with the next call."""
        self.stale = True

    def report(self, path: Path) -> None:
        """Write the figures, again and again."""
        part = path.with_suffix(".part")
        while True:
            self.jobs = max(self.jobs, running_jobs())
            figures = {name: getattr(self, name) for name in vars(self)}
            part.write_text(json.dumps(figures), encoding="utf-8")
            part.replace(path)
            time.sleep(PACE)


def running_jobs() -> int:
    """Return the number of jobs that compute now."""
    return LINE.running


if __name__ == "__main__":
    if len(sys.argv) < 2:  # `make bench` runs every file of this folder
        print("load_server.py is started by load.py.")
        sys.exit()
    meter = Meter()
    meter.install()
    signal.signal(signal.SIGUSR2, meter.clear)
    if os.environ.get("HCVIZ_CENSUS"):
        census.install()
    threading.Thread(target=meter.report, args=[Path(sys.argv[1])], daemon=True).start()
    sys.exit(main(["serve", *sys.argv[2:]]))
