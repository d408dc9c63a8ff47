"""``Presenter``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class Presenter(Part):
    """What is talked about in large type, and the buttons to step."""

    locals().update(script_and_style(__file__, "view"))
