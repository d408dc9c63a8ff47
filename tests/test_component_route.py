"""No address of the server imports a module, however the server is started."""

from __future__ import annotations

import http.client
import importlib.metadata
import inspect
import os
import re
import shlex
import subprocess
import sys
import time
import types
from importlib import import_module
from typing import ClassVar
from urllib.parse import urljoin

import panel as pn
import pytest
from panel.io.resources import component_resource_path
from panel.io.server import ComponentResourceHandler, get_static_routes
from tornado.web import HTTPError

from hcviz.ui.compat import components
from tests.conftest import ROOT
from tests.ports import free_port

#: What a page may ask for: a stylesheet of a component that the page has loaded.
LOADED = "/components/panel.theme.native/NativeDarkTheme/base_css/css/dark.css"

#: Modules that are not loaded. A canary writes a file when it is imported.
ADDRESSES = [
    "/components/canary/x/css/y",
    "/components/canary/Canary/css/style.css",
    "/components/canary/Canary/_resources/css/style.css",
    "/components/canaries/x/css/y",
    "/components/canaries.inner/x/css/y",
    "/components/canaries.__main__/x/css/y",
    "/components/can%61ry/x/css/y",
    "/components/canary%2fx/css/y/z",
    "/components//components/canary/x/css/y",
    "/components/.canary/x/css/y",
    "/components/..canary/x/css/y",
    "/components/setup/x/css/y",
    "/components/venv.__main__/x/css/y",
    "/components/hcviz.__main__/x/css/y",
    "/components/canary",
    "/components/",
    "/components/sys/modules/css/canary",
]

CANARY = """
import os
open(os.environ["CANARY_FOLDER"] + "/" + __name__, "w").close()
class Canary:
    css = "style.css"
"""


def _commands(port):
    here = ["--port", str(port), "--address", "127.0.0.1"]
    made = subprocess.run(
        ["make", "-n", "app", f"PORT={port}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.replace("\\\n", " ")
    recipe = next(shlex.split(line) for line in made.splitlines() if "panel serve" in line)
    return {
        "hcviz serve": [sys.executable, "-m", "hcviz", "serve", "--port", str(port)],
        "make app": [sys.executable, *recipe[1:]],
        "panel serve app.py": [sys.executable, "-m", "panel", "serve", "app.py", *here],
    }


@pytest.mark.parametrize("way", ["hcviz serve", "make app", "panel serve app.py"])
def test_no_address_imports_a_module(way, tmp_path):
    if way == "panel serve app.py":
        entries = importlib.metadata.entry_points(group="panel.auth")
        assert components.__name__ in {each.value for each in entries}, (
            "The installed hcviz is older than pyproject.toml: pip install -e ."
        )
    modules, seen = tmp_path / "modules", tmp_path / "imported"
    (modules / "canaries").mkdir(parents=True)
    seen.mkdir()
    for name in ("canary", "canaries/__init__", "canaries/inner", "canaries/__main__"):
        (modules / f"{name}.py").write_text(CANARY)
    port = free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": str(modules),
        "CANARY_FOLDER": str(seen),
        "HCVIZ_STATE": str(tmp_path / "state"),
        "HCVIZ_WORKERS": "0",  # no method runs here
    }
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            _commands(port)[way], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait(port, server, tmp_path / "log")
        # The first visit would run app.py: there was no visit yet.
        answers = {address: _get(port, address)[0] for address in ADDRESSES}
        assert _get(port, LOADED) == (200, _content(LOADED))
        page = "/" if way == "hcviz serve" else "/app"
        status, html = _get(port, page)
        assert status == 200
        own = {
            each for each in re.findall(r'(?:src|href)="([^"]+)"', html.decode()) if ":" not in each
        }
        assert len(own) >= 3
        assert {each: _get(port, urljoin("/", each))[0] for each in own} == dict.fromkeys(own, 200)
        again = {address: _get(port, address)[0] for address in ADDRESSES}
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(30)
    assert not sorted(each.name for each in seen.iterdir())
    assert {400 <= status < 500 for status in (*answers.values(), *again.values())} == {True}
    assert "Traceback" not in (tmp_path / "log").read_text()


def _content(address):
    return (
        (ROOT / pn.__file__)
        .parent.joinpath("theme", address.partition("base_css/")[2])
        .read_bytes()
    )


def _get(port, address):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", address)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _wait(port, server, log, seconds=180):
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        try:
            _get(port, "/favicon.ico")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"The server does not answer:\n{log.read_text()[-4000:]}")


# ---------------------------------------------------------------------- the contract with Panel


def resolve(path):
    return ComponentResourceHandler.parse_url_path(ComponentResourceHandler, path)


def test_panel_still_has_the_route_that_is_replaced():
    """Where this fails, Panel has changed the route: read it again, and mend or delete compat."""
    assert get_static_routes({}) == [("/components/(.*)", ComponentResourceHandler, {})]
    assert list(inspect.signature(components.importing_parse).parameters) == ["self", "path"]
    assert "importlib.import_module(mod)" in inspect.getsource(components.importing_parse)
    assert ComponentResourceHandler.parse_url_path is components.parse_url_path
    assert "parse_url_path" in inspect.getsource(ComponentResourceHandler.__mro__[1].get)
    # `panel serve` loads the group before the server begins.
    assert "entry_points_for('panel.auth')" in inspect.getsource(import_module("panel.auth"))
    assert "from ..auth import" in inspect.getsource(import_module("panel.command.serve"))


def test_loaded_components_keep_their_resources():
    from panel.theme.native import NativeDarkTheme

    address = component_resource_path(NativeDarkTheme, "base_css", NativeDarkTheme.base_css)
    assert f"/{address}" == LOADED
    path = address.removeprefix("components/")
    assert resolve(path) == components.importing_parse(ComponentResourceHandler, path)


class Harmless(pn.viewable.Viewer):
    css: ClassVar[int] = 3


@pytest.mark.parametrize(
    "path",
    [
        "Harmless/css/y",  # no list of paths
        "Harmless/__class__/css/y",
        "Harmless/_css",
        "Harmless",
        "pytest/css/y",  # no component
        "lazy/css/y",
    ],
)
def test_nothing_else_of_a_loaded_module_is_read(path, monkeypatch):
    """A module's ``__getattr__`` may import others, as that of scipy does."""
    asked = []
    module = types.ModuleType("loaded")
    module.__getattr__ = asked.append
    module.Harmless, module.pytest, module.__file__ = Harmless, pytest, __file__
    monkeypatch.setitem(sys.modules, "loaded", module)
    with pytest.raises(HTTPError) as fault:
        resolve(f"loaded/{path}")
    assert 400 <= fault.value.status_code < 500
    assert not asked
