"""``current_document``: make a document the current one for Panel.

Internal of Panel 1.9.4: ``set_curdoc`` of ``panel/io/state.py``. Panel otherwise uses the document
of the context that scheduled a callback. That can be another tab's document, whose style sheets the
new models would then share.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bokeh.document import Document
from panel.io.state import set_curdoc


@contextmanager
def current_document(document: Document) -> Iterator[None]:
    """Let Panel create and change models for ``document`` within the block."""
    with set_curdoc(document):
        yield


__all__ = ["current_document"]
