"""``use_local_style_sheets``: load Panel's style sheets from the page's own server.

Internals of Panel 1.9.4: ``LOCAL_DIST`` (``panel/io/resources.py``) and the variable ``dist_url``
in ``Document._template_variables`` of Bokeh 3.9.2. Panel sets the variable when it renders the
page's HTML. Bokeh discards a session that was not used for 10 s. If a slow browser connects after
that, Bokeh makes the session again without rendering the page. All style sheets would then come
from Panel's content network.
"""

from __future__ import annotations

from typing import Any

from bokeh.document import Document
from panel.io.resources import LOCAL_DIST


def use_local_style_sheets(document: Document) -> None:
    """Make the components of ``document`` refer to the style sheets of its own server."""
    variables: dict[str, Any] = document._template_variables
    variables.setdefault("dist_url", LOCAL_DIST)


__all__ = ["use_local_style_sheets"]
