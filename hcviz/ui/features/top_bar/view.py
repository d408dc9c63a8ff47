"""``Bar``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Bar(Part):
    """Data, similarity, method, seed; run, pause, cancel; undo, redo; files; theme."""

    locals().update(script(__file__, "view"))
