"""``GroupsPanel``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from pathlib import Path

from hcviz.ui.parts.part import Part, script_and_style

#: The script and style of the name field, which the inspector uses too.
NAME_FIELD = Path(__file__).with_name("name_field")


class GroupsPanel(Part):
    """The outline of the named groups."""

    locals().update(script_and_style(__file__, "view", NAME_FIELD))
