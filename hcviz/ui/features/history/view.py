"""``Foot``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Foot(Part):
    """The sentence bar and the history strip."""

    locals().update(script(__file__, "view"))
