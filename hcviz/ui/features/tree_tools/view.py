"""``TreeTools``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class TreeTools(Part):
    """The choice of the heatmap, the number of coloured clusters, and the search."""

    locals().update(script_and_style(__file__, "view"))
