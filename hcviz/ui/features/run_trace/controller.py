"""The message of the trace: which metric it shows."""

from __future__ import annotations

from hcviz.ui.features.run_trace.view import RunTrace
from hcviz.ui.parts.messages import Acts

ACTS = Acts()


@ACTS.on("metric")
def _choose(trace: RunTrace, value: str) -> None:
    trace.choose(value)
