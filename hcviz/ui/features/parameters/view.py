"""``ParameterForm``: the part of the page that the browser draws with ``view.js``."""

from __future__ import annotations

from hcviz.ui.parts.part import Part, script_and_style


class ParameterForm(Part):
    """The parameters of the method, and how the data are prepared."""

    locals().update(script_and_style(__file__, "view"))
