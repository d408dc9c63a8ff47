"""``Tabs``: the row of tabs above the tree."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class Tabs(Part):
    """Which picture is in the middle: the tree, or a sheet over it."""

    locals().update(script_and_style(__file__, "tabs"))
