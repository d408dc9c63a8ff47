"""The dashboard, whose process writes what is alive in it to a file when it gets SIGUSR1."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from hcviz.ui import serve_page, warm

KINDS = {"Store", "Explorer", "Runner", "Samples", "Posterior", "Document"}
MODULES = ("hcviz.", "bokeh.document.")


def census(*_: Any) -> None:
    gc.collect()
    alive = [type(each) for each in gc.get_objects()]
    kinds = [k.__name__ for k in alive if k.__name__ in KINDS and k.__module__.startswith(MODULES)]
    memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    path = Path(os.environ["HCVIZ_CENSUS"])
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"alive": Counter(kinds), "memory": memory}))
    part.replace(path)


if not hasattr(sys, "hcviz_census"):  # the script runs once a session
    sys.hcviz_census = True  # type: ignore[attr-defined]
    signal.signal(signal.SIGUSR1, census)
warm()
serve_page().servable(title="hcviz")
