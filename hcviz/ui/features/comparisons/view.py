"""``ComparisonCard``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class ComparisonCard(Part):
    """Three items, of which a person picks one."""

    locals().update(script_and_style(__file__, "view"))
