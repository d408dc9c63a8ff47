"""``LessonCard``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class LessonCard(Part):
    """The question of a lesson, the result of a guess, and the steps of a prepared lesson."""

    locals().update(script_and_style(__file__, "view"))
