"""The route ``/components/MODULE/CLASS/ATTRIBUTE/PATH`` of Panel, without its import of MODULE.

Internal of Panel 1.9.4: ``ComponentResourceHandler.parse_url_path`` (``panel/io/server.py``). It
imports any module that the address names, so one GET runs any code that can be imported:
``/components/venv.__main__/x/css/y`` stops the server. Importing this module replaces the method.
The route then finds only modules that are loaded, and in them only classes that can have resources.
Pages need no more: a page that shows a component has imported its module.

The replacement must be active before the server answers. ``hcviz serve`` and ``app.py`` import the
page, which imports this module. Plain ``panel serve app.py`` runs ``app.py`` only at the first
visit. For this case ``pyproject.toml`` names this module as an entry point of the group
``panel.auth``, which ``panel serve`` loads at its start. Other groups of entry points are loaded
later. The module provides no logins, and Panel does not use it for logins.
"""

from __future__ import annotations

import sys

from panel.io.server import ComponentResourceHandler
from param import Parameterized
from tornado.web import HTTPError

#: Panel's own method, which imports the module that an address names.
importing_parse = ComponentResourceHandler.parse_url_path


def parse_url_path(handler: ComponentResourceHandler, path: str) -> str:
    """Return the file for an address; HTTP 404 unless a loaded component lists it."""
    name, _, rest = path.partition("/")
    module = sys.modules.get(name)
    # Not getattr: the __getattr__ of a module may import other modules.
    component = vars(module).get(rest.partition("/")[0]) if module is not None else None
    if not (isinstance(component, type) and issubclass(component, Parameterized)):
        raise HTTPError(404, "There is no such component.")
    try:
        return importing_parse(handler, path)
    except (AttributeError, TypeError):  # an attribute that contains no paths
        raise HTTPError(404, "The component has no such resource.") from None


def close_component_route() -> None:
    """Replace Panel's method. Importing this module does it too."""
    ComponentResourceHandler.parse_url_path = (  # type: ignore[method-assign]
        parse_url_path  # type: ignore[assignment]
    )


close_component_route()
