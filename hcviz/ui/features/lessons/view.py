"""``Lesson``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Lesson(Part):
    """Where does it go? A guess, the truth, and the steps of a lesson that is a file."""

    locals().update(script(__file__, "view"))
