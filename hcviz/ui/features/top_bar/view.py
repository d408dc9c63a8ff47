"""``TopBar``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.features.picture.view import PICTURE_FORM
from hcviz.ui.parts.part import Part, script_and_style


class TopBar(Part):
    """Data, similarity, method, seed; run, pause, cancel; undo, redo; files; theme."""

    locals().update(script_and_style(__file__, "view", PICTURE_FORM))
