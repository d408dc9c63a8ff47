"""``Constraints``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import PARTS, UI, Part, script


class Constraints(Part):
    """The gestures, the constraint being stated, the list, and what is at odds."""

    locals().update(script(__file__, "view", UI / "features/conflicts/card", PARTS / "picked"))
