"""``Question``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Question(Part):
    """The question card, and how the next question is chosen."""

    locals().update(script(__file__, "view"))
