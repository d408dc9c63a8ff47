"""``TreeTools``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.features.levels.view import LEVELS_ROW
from hcviz.ui.parts.part import Part, script_and_style


class TreeTools(Part):
    """The choice of the heatmap, the search, and the row of levels."""

    locals().update(script_and_style(__file__, "view", LEVELS_ROW))
