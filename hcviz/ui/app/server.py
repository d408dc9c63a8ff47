"""``serve``: serve the page on a port of this machine, for ``hcviz serve``."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from typing import Any

import panel as pn
import segno
from bokeh.settings import settings as bokeh_settings

from hcviz.core.errors import HcvizError
from hcviz.io.network_access import Access
from hcviz.session.classroom import Classroom
from hcviz.session.model import DataSpec, Session
from hcviz.ui.app.gatekeeper import (
    MAX_BODY,
    PAGE,
    Gatekeeper,
    WrongPasswords,
    security_headers,
)
from hcviz.ui.app.page import budget, serve_page, warm
from hcviz.ui.app.rate_limits import UploadLimit
from hcviz.ui.compat.error_replies import hide_error_details
from hcviz.ui.compat.login import PAGE as LOGIN_PAGE
from hcviz.ui.compat.login import PasswordAuth
from hcviz.ui.compat.request_guard import add_headers, compress_scripts, guard_requests
from hcviz.ui.state import data_sources as sources

#: Milliseconds after which the session of a closed tab is destroyed, and between two checks for
#: such sessions. The journal keeps the work. The Makefile gives ``panel serve`` the same numbers.
UNUSED, CHECK = 10_000, 4_000


def serve(
    opening: DataSpec | Session,
    access: Access,
    autosave: str | None = None,
    scheduler: str | None = None,
    seconds: float | None = None,
    listening: Callable[[], None] | None = None,
) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    opening
        The data or session that pages open, unless their link names built-in data.
    access
        Where to listen, and who may open the page.
    autosave, scheduler, seconds
        See :func:`hcviz.ui.serve_page`.
    listening
        Is called when the server listens. By default, the terminal names the address.

    Raises
    ------
    HcvizError
        If the port cannot be used, or the data cannot be read.
    """
    budget(seconds)
    sources.offer(opening)
    uploads = UploadLimit() if access.public else None
    room = Classroom(access.url, access.class_code) if access.teacher_code else None

    def page() -> pn.viewable.Viewable:
        return serve_page(
            autosave=autosave, scheduler=scheduler, seconds=seconds, uploads=uploads, public=True,
            classroom=room,
        )  # fmt: skip

    try:
        server = pn.serve(
            {"/": page},
            port=access.port,
            address=access.address,
            websocket_origin=list(access.origins),
            title="hcviz",
            show=False,
            start=False,
            verbose=False,
            unused_session_lifetime_milliseconds=UNUSED,
            check_unused_sessions_milliseconds=CHECK,
            **protection(access),
        )
    except OSError as fault:
        raise HcvizError(
            f"Port {access.port} of {access.address} cannot be used ({fault.strerror}).",
            "Choose another one with --port.",
        ) from None
    hide_error_details()
    guard_requests(server, Gatekeeper(limited=access.public))
    add_headers(server, security_headers, PAGE)
    compress_scripts(server)
    if listening is None:
        print(access.announcement, file=sys.stderr)
        if room is not None and "utf" in (sys.stderr.encoding or "").lower():
            segno.make(room.address, error="m", micro=False).terminal(sys.stderr, compact=True)
    else:
        listening()
    warm()
    server.run_until_shutdown()


def protection(access: Access) -> dict[str, Any]:
    """Return the options of Panel's and Bokeh's server that protect the page."""
    options: dict[str, Any] = {
        # A browser cannot choose the name of its session, nor open one without this server's page.
        "sign_sessions": True,
        "secret_key": bokeh_settings.secret_key_bytes() or secrets.token_bytes(32),
        # The token of a page, which scripts can read, holds no other cookies and no headers.
        "include_cookies": ["hcviz-theme"],
        "include_headers": [],
        "http_server_kwargs": {"max_body_size": MAX_BODY},
        "use_xheaders": access.proxied,
    }
    if access.password is not None:
        options["auth_provider"] = PasswordAuth(
            access.password, WrongPasswords(), access.teacher_code
        )
    elif access.oauth:
        options |= {
            "oauth_provider": access.oauth,
            "oauth_error_template": str(LOGIN_PAGE),
            "logout_template": str(LOGIN_PAGE),
        }
    if access.password is not None or access.oauth:
        options["cookie_secret"] = pn.config.cookie_secret or secrets.token_urlsafe(32)
    return options
