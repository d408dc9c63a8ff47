"""``Inspector``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Inspector(Part):
    """The selected subtree, and the facts of the tree shown."""

    locals().update(script(__file__, "view"))
