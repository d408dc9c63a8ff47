"""``Form``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Form(Part):
    """The method's parameters, and how the data is prepared for it."""

    locals().update(script(__file__, "view"))
