"""``Compare``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Compare(Part):
    """Three items, of which one is named."""

    locals().update(script(__file__, "view"))
