"""The route ``/components/MODULE/CLASS/ATTRIBUTE/PATH`` of Panel, without its import of MODULE.

Panel 1.9.4 imports whatever module the address names, so one GET runs any code that can be
imported: ``/components/venv.__main__/x/css/y`` ends the server. Importing this module replaces the
method of Panel's handler that does so. The route then knows only modules that are loaded already,
and in them only classes that can have resources. Pages need no more: a page that shows a component
has imported its module.

The replacement must be in place before the server answers. ``hcviz serve`` and ``app.py`` import
the page, which imports this module. Plain ``panel serve app.py`` runs ``app.py`` at the first visit
only; there ``pyproject.toml`` names this module as an entry point of the group ``panel.auth``,
which ``panel serve`` loads at its start. (Of Panel's entry points it is the only one that is loaded
so early. The module is no provider of logins, and Panel never asks it for any.)
"""

from __future__ import annotations

import sys

from panel.io.server import ComponentResourceHandler
from param import Parameterized
from tornado.web import HTTPError

#: Panel's own method, which imports the module that an address names.
importing = ComponentResourceHandler.parse_url_path


def parse_url_path(handler: ComponentResourceHandler, path: str) -> str:
    """The file behind an address; HTTP 404 unless a loaded component lists it."""
    name, _, rest = path.partition("/")
    module = sys.modules.get(name)
    # Not getattr: a module's own __getattr__ may import others.
    component = vars(module).get(rest.partition("/")[0]) if module is not None else None
    if not (isinstance(component, type) and issubclass(component, Parameterized)):
        raise HTTPError(404, "There is no such component.")
    try:
        return importing(handler, path)
    except (AttributeError, TypeError):  # an attribute that holds no paths
        raise HTTPError(404, "The component has no such resource.") from None


ComponentResourceHandler.parse_url_path = parse_url_path  # type: ignore[method-assign, assignment]
