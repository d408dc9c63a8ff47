"""``Tools``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Tools(Part):
    """What the heatmap shows, how many clusters are coloured, the search."""

    locals().update(script(__file__, "view"))
