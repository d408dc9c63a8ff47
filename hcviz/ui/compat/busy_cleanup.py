"""Panel 1.9.4 keeps the first session of a server for ever; this starts its timer without one."""

from __future__ import annotations

import asyncio
import contextvars

import panel as pn


def start_busy_cleanup() -> None:
    """Start Panel's cleanup of its busy counter in an empty context. May be called often.

    Panel starts this asyncio task, once a server, at the first event of the first session. A task
    keeps a copy of the context it was started in, and Panel keeps the current document in the
    context: so the first session's document, and all that its callbacks reach, is never freed.
    Does nothing without a running event loop, where Panel would start the task elsewhere.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    contextvars.Context().run(pn.state._schedule_busy_cleanup)
