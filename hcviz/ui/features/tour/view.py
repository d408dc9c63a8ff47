"""``TourCard``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class TourCard(Part):
    """The offer of the tour in the foot of the page, and the card of a step beside its target."""

    locals().update(script_and_style(__file__, "view"))
