"""``start_busy_cleanup``: start Panel's timer without keeping the first session in memory.

Internal of Panel 1.9.4: ``state._schedule_busy_cleanup`` (``panel/io/state.py``). Panel starts this
asyncio task once per server, at the first event of the first session. A task keeps a copy of its
context, and the context contains the current document. So the first session's document, and all
that its callbacks refer to, would never be freed.
"""

from __future__ import annotations

import asyncio
import contextvars

import panel as pn


def start_busy_cleanup() -> None:
    """Start Panel's cleanup of its busy counter in an empty context.

    Further calls do nothing. Without a running event loop Panel would start the task elsewhere, and
    this does nothing either.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    contextvars.Context().run(pn.state._schedule_busy_cleanup)


__all__ = ["start_busy_cleanup"]
