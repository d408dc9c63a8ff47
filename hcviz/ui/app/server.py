"""``serve``: serve the page on a port of this machine, for ``hcviz serve``."""

from __future__ import annotations

import sys

import panel as pn

from hcviz.core.errors import HcvizError, InvalidParameter
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.page import budget, serve_page, warm
from hcviz.ui.state import data_sources as sources

#: Milliseconds after which the session of a closed tab is destroyed, and between two checks for
#: such sessions. The journal keeps the work. The Makefile gives ``panel serve`` the same numbers.
UNUSED, CHECK = 10_000, 4_000


def serve(
    opening: DataSpec | Session,
    port: int,
    address: str,
    autosave: str | None = None,
    scheduler: str | None = None,
    seconds: float | None = None,
) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    opening
        The data or session that pages open, unless their link names built-in data.
    port, address
        Where to listen.
    autosave, scheduler, seconds
        See :func:`hcviz.ui.serve_page`.

    Raises
    ------
    HcvizError
        If the port cannot be used, or the data cannot be read.
    """
    if not 1 <= port <= 65535:
        raise InvalidParameter(f"There is no port {port}.", "Ports are numbered 1 to 65535.")
    budget(seconds)
    sources.offer(opening)
    hosts = {address, "127.0.0.1", "localhost"}
    try:
        server = pn.serve(
            {"/": lambda: serve_page(autosave=autosave, scheduler=scheduler, seconds=seconds)},
            port=port,
            address=address,
            websocket_origin=sorted(f"{host}:{port}" for host in hosts),
            title="hcviz",
            show=False,
            start=False,
            verbose=False,
            unused_session_lifetime_milliseconds=UNUSED,
            check_unused_sessions_milliseconds=CHECK,
        )
    except OSError as fault:
        raise HcvizError(
            f"Port {port} of {address} cannot be used ({fault.strerror}).",
            "Choose another one with --port.",
        ) from None
    print(f"hcviz: http://{address}:{port} (Ctrl-C ends it)", file=sys.stderr)
    warm()
    server.run_until_shutdown()
