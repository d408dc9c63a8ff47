"""``clear_document``: free the page of a document whose session has ended.

Internals of Bokeh 3.9.2: the containers in ``Document.callbacks`` and ``Document.models``. Bokeh
leaves callbacks and unsent models there when it destroys a session. ``warm`` excludes objects that
exist from garbage collection (``gc.freeze``). Under ``panel serve`` it runs in the script of the
first session. That session's document exists by then and is in reference cycles, so it stays in
memory until the next full collection (``ui/app/page_garbage.py``), and would keep the page.
"""

from __future__ import annotations

from bokeh.document import Document


def clear_document(document: Document) -> None:
    """Empty the callbacks and the unsent models of a destroyed document."""
    for owner in (document.callbacks, document.models):
        for name, held in vars(owner).items():
            if isinstance(held, (dict, set)):
                # Replaced, not cleared: Bokeh may be iterating over it while it calls this.
                fresh = held.copy()
                fresh.clear()
                setattr(owner, name, fresh)


__all__ = ["clear_document"]
