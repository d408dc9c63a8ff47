"""Load Panel's style sheets from the page's own server, however its session was made."""

from __future__ import annotations

from typing import Any

from bokeh.document import Document
from panel.io.resources import LOCAL_DIST


def use_own_styles(document: Document) -> None:
    """Make the components of ``document`` refer to the style sheets of its own server.

    Panel 1.9.4 says where these are when it renders the page's HTML. A session that was not used
    for 10 s is discarded. If a slow browser connects after that, Bokeh makes the session anew
    without rendering the page, and all style sheets would come from Panel's content network.
    """
    variables: dict[str, Any] = document._template_variables
    variables.setdefault("dist_url", LOCAL_DIST)


__all__ = ["use_own_styles"]
