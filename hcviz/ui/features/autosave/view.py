"""``Notice``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class ResumeNotice(Part):
    """Offers an unfinished session; knows the visitor's token, which the browser keeps."""

    locals().update(script_and_style(__file__, "view"))
