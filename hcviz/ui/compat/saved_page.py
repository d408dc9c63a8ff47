"""``write_page``: a view as one HTML file that works without a network.

Internals of Panel 1.9.4: ``patch_inline_stylesheets`` (``panel/io/notebook.py``), which replaces
style sheets of a server by their text, and the links to icons of another host in the template of
``panel/io/save.py``. ``save`` with ``resources=INLINE`` changes neither.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from bokeh.core.validation import silence
from bokeh.core.validation.warnings import EMPTY_LAYOUT
from bokeh.document import Document
from bokeh.models.ui import UIElement
from bokeh.resources import INLINE
from panel.io.notebook import patch_inline_stylesheets
from panel.io.save import save

#: The first line of the page.
NOTE = (
    '<p role="note" style="margin:0;padding:8px 12px;background:#fff4ce;color:#333;'
    'font:14px sans-serif">This is a saved page. The tree and the heatmap can be zoomed. Buttons '
    "need a running hcviz, so they do nothing here.</p>"
)
_LINK_ELSEWHERE = re.compile(r'<link [^>]*href="https?://[^>]*>')


def write_page(view: Any, filename: str | Path, title: str) -> None:
    """Write a Panel view as it is to ``filename``, below a note that its buttons do nothing."""
    document = Document()
    document.add_root(view.get_root(document))
    for model in document.models:
        if isinstance(model, UIElement):
            patch_inline_stylesheets(model)
    page = io.StringIO()
    silence(EMPTY_LAYOUT, True)  # closed panels are empty
    try:
        save(document, page, title=title, resources=INLINE)
    finally:
        silence(EMPTY_LAYOUT, False)
    text = _LINK_ELSEWHERE.sub("", page.getvalue())
    text = re.sub(r"<body[^>]*>", lambda found: found[0] + NOTE, text, count=1)
    Path(filename).write_text(text, encoding="utf-8")


__all__ = ["write_page"]
