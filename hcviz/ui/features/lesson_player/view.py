"""``LessonPlayer``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class LessonPlayer(Part):
    """The sentence of a lesson's step in large type, what the class predicts, and the buttons."""

    locals().update(script_and_style(__file__, "view"))
