"""``QuestionCard``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class QuestionCard(Part):
    """The question card, and the settings for the next question."""

    locals().update(script_and_style(__file__, "view"))
