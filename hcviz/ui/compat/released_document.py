"""Free the page of a document whose session has ended, even where the document itself stays."""

from __future__ import annotations

from bokeh.document import Document


def empty(document: Document) -> None:
    """Clear the callbacks, and the models not sent yet, that Bokeh 3.9.2 leaves when it destroys.

    ``warm`` excludes what exists from garbage collection (``gc.freeze``). Under ``panel serve`` it
    runs in the script of the first session, whose document exists by then: that document stays for
    ever, since it is in cycles, and would keep the page.
    """
    for owner in (document.callbacks, document.models):
        for name, held in vars(owner).items():
            if isinstance(held, (dict, set)):
                # Not cleared in place: Bokeh may be iterating over it while it calls this.
                fresh = held.copy()
                fresh.clear()
                setattr(owner, name, fresh)
