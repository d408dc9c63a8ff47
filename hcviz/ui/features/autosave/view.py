"""``Notice``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script


class Notice(Part):
    """Offers an unfinished session; knows the visitor's token, which the browser keeps."""

    locals().update(script(__file__, "view"))
