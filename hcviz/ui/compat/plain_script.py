"""``PlainScript``: components whose script the browser takes as it is."""

from __future__ import annotations

import hashlib
from typing import Any

from bokeh.document import Document
from panel.custom import JSComponent


class PlainScript(JSComponent):
    """A component in plain JavaScript, which need not be translated in the browser.

    Panel 1.9.4 translates each component's script from TypeScript in every page that opens, which
    takes a tenth of the time until the page is drawn. It leaves out a script that it takes for a
    bundle, and knows a bundle by this digest.
    """

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        properties: dict[str, Any] = super()._get_properties(doc)
        properties["bundle"] = hashlib.sha256(properties["esm"].encode()).hexdigest()
        return properties


__all__ = ["PlainScript"]
