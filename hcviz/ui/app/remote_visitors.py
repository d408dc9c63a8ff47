"""Pages for other machines are served on purpose only, also by ``panel serve app.py``."""

from __future__ import annotations

import logging
import os

from bokeh.document import Document

from hcviz.io.network_access import is_loopback

log = logging.getLogger("hcviz")

SENTENCE = (
    "This server answers its own machine only. To open it to others, start it with "
    "hcviz serve --public."
)


def is_refused(document: Document) -> bool:
    """Return True if the page was asked for by another machine, which was not allowed.

    ``panel serve`` without ``--address`` listens on all addresses. ``HCVIZ_PUBLIC=1`` allows other
    machines, for servers that are protected in another way.
    """
    if os.environ.get("HCVIZ_PUBLIC", "") not in ("", "0"):
        return False
    request = getattr(document.session_context, "request", None)
    address = getattr(request, "remote_ip", None)
    if address is None or is_loopback(address.partition("%")[0]):
        return False
    log.warning("Refused a page to %s. %s", address, SENTENCE)
    return True


__all__ = ["SENTENCE", "is_refused"]
