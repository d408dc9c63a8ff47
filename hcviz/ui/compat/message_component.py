"""``MessageComponent``: a component that sends messages to Python and sets no properties.

Internals of Panel 1.9.4 (``panel/custom.py``, class ``ReactiveESM``):

- ``_linked_properties`` names what the browser may set. Panel treats changes of these that Python
  made, and Bokeh held back, as changes made by the browser.
- ``_get_properties`` returns the properties ``esm`` and ``bundle`` of the Bokeh model. The browser
  translates a script from TypeScript unless ``bundle`` is the digest of ``esm``. The translation
  takes a tenth of the time until the page is drawn.
- ``_patch_datamodel_ref`` tags data models with their component. At every change it searches all
  models below a component. For the page's frame these are all models of the page, and the search
  takes most of an update's time.
"""

from __future__ import annotations

import hashlib
from typing import Any

from bokeh.document import Document
from panel.custom import JSComponent


class MessageComponent(JSComponent):
    """A component in plain JavaScript; the browser sends messages and sets no properties."""

    @property
    def _linked_properties(self) -> tuple[str, ...]:
        """Return nothing: the browser sets no properties."""
        return ()

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        """Mark the script as one that need not be translated."""
        properties: dict[str, Any] = super()._get_properties(doc)
        properties["bundle"] = hashlib.sha256(properties["esm"].encode()).hexdigest()
        return properties


class MessageFrame(MessageComponent):
    """A component that contains the components of a whole page."""

    @classmethod
    def _patch_datamodel_ref(cls, props: Any, ref: str) -> None:
        """Tag the component's own data only; the components in it tag theirs."""
        tag = f"__ref:{ref}"
        if tag not in props.tags:
            props.tags.append(tag)


__all__ = ["MessageComponent", "MessageFrame"]
