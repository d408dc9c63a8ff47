"""The browser's word that a tree is drawn: the next is sent when it can be drawn, not before.

A sampler makes trees faster than a browser draws them. What is sent too early waits in line in the
browser, and every click waits behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS

#: Seconds until a page that says nothing (a tab in the back) is sent more all the same.
PATIENCE = 0.5

#: After the frame that draws the data, and after as long again, so that the page is at work for
#: half of the time at most and a click never waits for more than one tree. Not in a notebook, where
#: nobody asks: there the shell tells what is drawn (``Wire``).
ANSWER = """
if (answer.document.roots().some(root => root.client_comm_id)) return
const begin = performance.now()
requestAnimationFrame(() => setTimeout(() => {
  const took = performance.now() - begin
  setTimeout(() => { answer.data = {count: [answer.data.count[0] + 1]} }, Math.min(took, 60))
}))
"""


class Echo:
    """Answers when the browser has drawn what ``source`` was given."""

    def __init__(self, source: ColumnDataSource) -> None:
        self.answer = ColumnDataSource({"count": [0]})
        source.js_on_change("data", CustomJS(args={"answer": self.answer}, code=ANSWER))
        self.answer.on_change("data", lambda _attribute, _old, _new: self._tell(self._asked))
        self._asked = 0
        self._call: Callable[[], None] | None = None

    def ask(self, call: Callable[[], None]) -> None:
        """``call`` once, after the next answer or :data:`PATIENCE`; needs a running event loop."""
        self._tell(self._asked)
        self._asked += 1
        self._call = call
        asyncio.get_running_loop().call_later(PATIENCE, self._tell, self._asked)

    def _tell(self, asked: int) -> Any:
        if asked == self._asked and self._call is not None:
            call, self._call = self._call, None
            call()
