"""``DrawConfirmation``: tells the server that the browser has drawn a tree.

A sampler makes trees faster than a browser draws them. A tree that is sent too early waits in the
browser's queue, and every click waits behind it. So the next tree is sent after the confirmation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bokeh.models import ColumnDataSource, CustomJS

from hcviz.ui.compat import COMPAT

#: Seconds after which the next tree is sent without a confirmation (a tab in the background).
TIMEOUT = 0.5

#: Confirms after the frame that draws the data, and after as long again. So the browser works for
#: half of the time at most, and a click waits for one tree at most. In a notebook the page's frame
#: confirms what is drawn (``NotebookConnection``), and this script does nothing.
CONFIRM = """
if (isInNotebook(answer.document)) return
const begin = performance.now()
requestAnimationFrame(() => setTimeout(() => {
  const took = performance.now() - begin
  setTimeout(() => { answer.data = {count: [answer.data.count[0] + 1]} }, Math.min(took, 60))
}))
"""


class DrawConfirmation:
    """Calls a function when the browser has drawn new data of ``source``."""

    def __init__(self, source: ColumnDataSource) -> None:
        self.answer = ColumnDataSource({"count": [0]})
        source.js_on_change(
            "data",
            CustomJS(
                args={"answer": self.answer},
                code=(COMPAT / "kernel_roots.js").read_text(encoding="utf-8") + CONFIRM,
            ),
        )
        self.answer.on_change("data", lambda _attribute, _old, _new: self._confirm(self._number))
        self._number = 0
        self._call: Callable[[], None] | None = None

    def wait(self, call: Callable[[], None]) -> None:
        """Call ``call`` once, after the next confirmation or :data:`TIMEOUT`.

        A call that still waits is made now. Needs a running event loop.
        """
        self._confirm(self._number)
        self._number += 1
        self._call = call
        asyncio.get_running_loop().call_later(TIMEOUT, self._confirm, self._number)

    def _confirm(self, number: int) -> None:
        if number == self._number and self._call is not None:
            call, self._call = self._call, None
            call()
