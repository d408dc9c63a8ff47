"""``Constraints``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import PARTS, UI, Part, script_and_style


class ConstraintsPanel(Part):
    """The gestures, the draft, the list of constraints, and the conflict card."""

    locals().update(
        script_and_style(__file__, "view", UI / "features/conflicts/card", PARTS / "picked")
    )
