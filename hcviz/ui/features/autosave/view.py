"""``ResumeNotice``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class ResumeNotice(Part):
    """A bar that offers an unfinished session; it asks for a tab's own session."""

    locals().update(script_and_style(__file__, "view"))
