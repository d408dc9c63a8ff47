"""``cell_documents``: the documents of notebook cells that are on a page.

Internal of Panel 1.9.4: ``state._views`` (``panel/io/state.py``) maps the reference of each root
to ``(viewable, model, document, comm)``. Panel removes the entry when the cell's output is deleted.
A comm is a notebook's connection; it is None for served pages.
"""

from __future__ import annotations

from typing import Any

from bokeh.document import Document
from panel.io.state import state

#: Viewable, root model, document and comm of one displayed output.
Display = tuple[Any, Any, Document, Any]


def display_of(reference: str) -> Display | None:
    """Return what Panel shows under the reference of a root; None if it is gone."""
    return state._views.get(reference)


def cell_documents() -> list[Document]:
    """Return the documents that notebook cells show."""
    views = state._views.values()
    return [document for _, _, document, comm in views if comm is not None]


__all__ = ["cell_documents", "display_of"]
