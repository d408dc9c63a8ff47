"""``InspectorPanel``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.features.about_group import ABOUT
from hcviz.ui.features.groups.view import NAME_FIELD
from hcviz.ui.features.levels.view import LEVELS_ROW
from hcviz.ui.parts.part import Part, script_and_style


class InspectorPanel(Part):
    """Facts about the selected items and the tree."""

    locals().update(script_and_style(__file__, "view", NAME_FIELD, LEVELS_ROW, ABOUT))
