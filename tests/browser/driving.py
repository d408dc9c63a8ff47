"""Drive a Bokeh page: wait for conditions, turn data into pixels, watch what a page does.

Models of the page are read, to find out where to click. They are never changed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, FloatRect, Locator, Page, Request

from tests.conftest import ROOT
from tests.ports import free_port

ARTIFACTS = ROOT / "tests" / "artifacts"
LOCAL = {"127.0.0.1", "localhost", "::1", None}  # None: data: and blob:

#: Milliseconds until a wait is a failure; nothing is expected to take nearly as long.
TIMEOUT = 60_000


@dataclass
class Watch:
    """The faults of a page: console errors, exceptions, crashes, requests to other hosts."""

    faults: list[str] = field(default_factory=list)

    def over(self, page: Page) -> None:
        page.on("console", self._console)
        page.on(
            "pageerror", lambda error: self.faults.append(f"page error: {error.stack or error}")
        )
        page.on("crash", lambda _: self.faults.append("the page crashed"))
        page.on("websocket", lambda socket: self._url(socket.url))

    def over_context(self, context: BrowserContext) -> Callable[[], None]:
        """Watch every page; the returned function ends that.

        The browser finds no other host (``ARGUMENTS`` in conftest.py). Requests are not routed, as
        Playwright would switch the browser's cache off.
        """
        context.on("request", self._request)
        context.on("page", self.over)

        def end() -> None:
            context.remove_listener("request", self._request)
            context.remove_listener("page", self.over)

        return end

    def _request(self, request: Request) -> None:
        self._url(request.url)

    def _url(self, url: str) -> None:
        if urlsplit(url).hostname not in LOCAL:
            self.faults.append(f"request to a foreign host: {url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(f"console error: {message.text} ({message.location.get('url')})")


class Server:
    """``panel serve`` as a user starts it, on a free port, with its log in a file.

    ``app`` None: ``hcviz serve ARGS`` instead.
    """

    def __init__(
        self, app: Path | None, args: Sequence[str] = (), log: str = "server.log", port: int = 0
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}/{app.stem if app else ''}"
        self._alive = f"http://127.0.0.1:{self.port}/{'liveness' if app else ''}"
        ARTIFACTS.mkdir(exist_ok=True)
        self.log = ARTIFACTS / log
        self._file: IO[bytes] = self.log.open("wb")
        command = [
            sys.executable, "-m", "panel", "serve", str(app), "--port", str(self.port),
            "--address", "127.0.0.1", "--allow-websocket-origin", f"127.0.0.1:{self.port}",
            "--liveness", *(["--args", *args] if args else []),
        ]  # fmt: skip
        if app is None:
            command = [sys.executable, "-m", "hcviz", "serve", *args, "--port", str(self.port)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=self._file, stderr=subprocess.STDOUT
        )

    def wait(self, seconds: float = 180) -> None:
        """Wait until the server answers. If it ends instead, the test fails with its log."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(self._alive, timeout=30):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError(f"The server does not answer:\n{self.log.read_text()[-4000:]}")

    def faults(self, since: int = 0) -> str:
        """What the log says of errors and tracebacks after its first ``since`` bytes.

        Bokeh 3.9.2 asserts its session when it reads the last messages of a tab that was closed
        meanwhile (``bokeh/server/connection.py``); that is no fault of the page's.
        """
        text = self.log.read_bytes()[since:].decode(errors="replace")
        tracebacks = re.findall(
            r"^.*Traceback \(most recent call last\):\n(?:^[ ].*\n)*^.*$", text, re.MULTILINE
        )
        ours = [each for each in tracebacks if "assert self._session is not None" not in each]
        ours += re.findall(r"^.*\bERROR\b.*$", text, re.MULTILINE)
        return "\n".join(ours)

    def kill(self) -> None:
        """End the server as a crash does: it writes and reports nothing."""
        self.process.kill()
        self.process.wait()
        self._file.close()

    def stop(self) -> None:
        """End the server, unless it has ended."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._file.close()


def wait_for(page: Page, expression: str, argument: object = None) -> None:
    """Wait until a JavaScript expression (or function of ``argument``) is truthy."""
    page.wait_for_function(expression, arg=argument, timeout=TIMEOUT)


def wait_until(page: Page, condition: Callable[[], object]) -> None:
    """Wait until a condition holds. Events of the page are handled meanwhile."""
    until = time.monotonic() + TIMEOUT / 1000
    while not condition():
        assert time.monotonic() < until, "it did not come true"
        page.wait_for_timeout(50)


def value_at_rest(page: Page, function: str, argument: object) -> Any:
    """Wait until a JavaScript function of ``argument`` returns the same in two frames; return that.

    null means that there is no value yet.
    """
    return page.wait_for_function(
        f"""it => {{
          const now = ({function})(it.argument), before = it.seen
          it.seen = JSON.stringify(now ?? null)
          return now && it.seen === before ? now : null
        }}""",
        arg={"argument": argument},
        timeout=TIMEOUT,
    ).json_value()


#: Where everything in the centre is, and whether something still glides there. The server fits the
#: picture to new sizes and rows 60 ms later at most: it has done so when it answers.
PLACES = """
async () => {
  await new Promise(done => setTimeout(done, 80))
  const answer = await fetch("/liveness")
  const places = [answer.ok]
  for (const doc of Bokeh.documents)
    for (const name of ["tree", "labels", "heat", "tree-lines", "label-text"]) {
      const model = doc.get_model_by_name(name)
      if (!model) continue
      const ranges = model.x_range ? [model.x_range, model.y_range] : []
      places.push(model.gliding ?? false, model.inner_width, model.inner_height)
      for (const {start, end} of ranges) places.push(start, end)
      if (model.data) places.push(...Array.from(model.data.x), ...Array.from(model.data.y))
    }
  return places.map(String).join()
}
"""


def wait_still(page: Page) -> None:
    """Wait until nothing moves in the picture.

    The page and the server also send each other sizes and the rows in view. The picture must be
    the same after these messages.
    """
    seen = [""]

    def still() -> bool:
        wait_idle(page)
        seen.append(page.evaluate(PLACES))
        return seen[-1] == seen[-2] and "true" not in seen[-1].split(",", 1)[1]

    wait_until(page, lambda: still() and still())


def wait_idle(page: Page) -> None:
    """Wait until Bokeh has drawn all changes."""
    wait_for(
        page,
        "() => window.Bokeh && Bokeh.documents.length > 0 && Bokeh.documents.every(d => d.is_idle)",
    )


#: The view of the model named ``name``; null while there is none or it is not laid out yet.
FIND_VIEW = """
(name) => {
  for (const doc of window.Bokeh ? Bokeh.documents : []) {
    const model = doc.get_model_by_name(name)
    const view = model && Bokeh.index.find_one(model)
    if (view && view.frame && view.frame.bbox.width > 0) return view
  }
  return null
}
"""


#: Where on the page a data point of a figure is: [x, y] in CSS pixels, null without a view.
PIXEL = f"""
([name, x, y]) => {{
  const view = ({FIND_VIEW})(name)
  if (!view) return null
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
}}
"""

#: Where on the page an item's name is, or its row in the tree at a share of the tree's height.
ITEM_PIXEL = f"""
([item, share]) => {{
  const view = ({FIND_VIEW})("labels")
  if (!view) return null
  const {{ text, x, y }} = view.model.document.get_model_by_name("label-text").data
  const k = Array.from(text).indexOf(item)
  if (k < 0) return null
  if (share === null) return ({PIXEL})(["labels", x[k] + 4, y[k]])
  const heights = view.model.document.get_model_by_name("tree-lines").data.x
  const top = heights.reduce((most, each) => (each > most ? each : most), 0)
  return ({PIXEL})(["tree", share * top, y[k]])
}}
"""


def pixel(page: Page, figure: str, x: float, y: float) -> tuple[float, float]:
    """Where on the page the data point (x, y) of the figure of that name is, in CSS pixels."""
    at = value_at_rest(page, PIXEL, [figure, x, y])
    return at[0], at[1]


def item_pixel(page: Page, item: str, share: float | None = None) -> tuple[float, float]:
    """Where on the page an item's name is, in CSS pixels.

    With ``share``: where its row in the tree is, at a share of the tree's height.
    """
    at = value_at_rest(page, ITEM_PIXEL, [item, share])
    return at[0], at[1]


def ranges(page: Page, figure: str) -> tuple[float, float, float, float]:
    """The figure's x start, x end, y start and y end."""
    found = page.wait_for_function(
        f"""(name) => {{
          const view = ({FIND_VIEW})(name)
          if (!view) return null
          const {{x_range, y_range}} = view.frame
          return [x_range.start, x_range.end, y_range.start, y_range.end]
        }}""",
        arg=figure,
        timeout=TIMEOUT,
    ).json_value()
    return found[0], found[1], found[2], found[3]


def column(page: Page, source: str, name: str) -> list:
    """A column of the data source of that name, as the page has it."""
    return columns(page, source, name)[0]


def columns(page: Page, source: str, *names: str) -> list[list]:
    """Columns of one moment, all of the same picture.

    Empty texts are left out. They replace labels that were removed.
    """
    return page.evaluate(
        """([source, names]) => {
          for (const doc of Bokeh.documents) {
            const model = doc.get_model_by_name(source)
            if (!model) continue
            const there = (_, k) => source !== "label-text" || model.data.text[k] !== ""
            return names.map(name => Array.from(model.data[name]).filter(there))
          }
          throw new Error(`no data source ${source}`)
        }""",
        [source, list(names)],
    )


def branches(page: Page) -> list[tuple[float, float]]:
    """Middles of the lines above clades of two items or more, as data points: longest line first.

    A clade is drawn as the path from one child to its bar, along the bar, and to the other child.
    """
    x, y = columns(page, "tree-lines", "x", "y")
    found = []
    for k in range(len(x) - 3):
        if any(v != v for v in x[k : k + 4]) or x[k + 1] != x[k + 2]:
            continue
        for child, row in ((x[k], y[k]), (x[k + 3], y[k + 3])):
            if child > 0:
                found.append((x[k + 1] - child, (x[k + 1] + child) / 2, row))
    return [(middle, row) for _, middle, row in sorted(found, reverse=True)]


def click(page: Page, figure: str, x: float, y: float, **options: object) -> None:
    """A real click on the canvas at the data point (x, y)."""
    page.mouse.click(*pixel(page, figure, x, y), **options)  # type: ignore[arg-type]


def shot(page: Page, name: str, folder: Path = ARTIFACTS) -> Path:
    """A screenshot of the window, drawn to the end; its path."""
    wait_idle(page)
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    return path


def box_at_rest(page: Page, element: Locator) -> FloatRect:
    """The box of an element on the page, once it is the same twice."""
    boxes: list[FloatRect | None] = [None]

    def at_rest() -> FloatRect | None:
        boxes.append(element.bounding_box())
        return boxes[-1] if boxes[-1] == boxes[-2] else None

    wait_until(page, at_rest)
    return cast(FloatRect, boxes[-1])
