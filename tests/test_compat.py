"""What ``ui/compat`` repairs in Panel, and that Panel still needs it; HoloViews keeps no page."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from collections.abc import Callable

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import Div, ImportedStyleSheet
from panel.io.resources import CDN_DIST
from panel.io.state import set_curdoc

from hcviz.ui.compat.busy_cleanup import start_busy_cleanup
from hcviz.ui.compat.own_styles import use_own_styles
from hcviz.ui.compat.released_document import empty
from hcviz.ui.features.run_trace.view import RunTrace


@pytest.mark.parametrize(
    ("start", "kept"), [(start_busy_cleanup, False), (pn.state._schedule_busy_cleanup, True)]
)
def test_the_first_document_is_not_kept_by_panels_timer(
    start: Callable[[], None], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second case fails once Panel has mended it: then the repair can go."""
    monkeypatch.setattr(type(pn.state), "_busy_cleanup_scheduled", None)

    def event() -> weakref.ref[Document]:
        document = Document()
        pn.state._curdoc.set(document)
        start()
        return weakref.ref(document)

    async def serve() -> bool:
        found = contextvars.copy_context().run(event)
        await asyncio.sleep(0.05)
        assert pn.state._busy_cleanup_scheduled is not None
        gc.collect()
        alive = found() is not None
        pn.state._busy_cleanup_scheduled.stop()
        return alive

    assert asyncio.run(serve()) is kept


def test_a_destroyed_document_lets_go_of_what_bokeh_leaves_in_it() -> None:
    """As after gc.freeze: the document itself stays. Fails once Bokeh has renamed its parts."""
    document = Document()
    model = Div()
    document.add_root(model)
    gone = weakref.ref(model)
    del model
    document.callbacks.destroy()
    document.models.destroy()
    document._roots.clear()
    gc.collect()
    assert gone() is not None
    empty(document)
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("own", [True, False])
def test_style_sheets_come_from_the_own_server_without_a_rendered_page(own: bool) -> None:
    """The second case fails once Panel has mended it: then the repair can go."""
    document = Document()
    with set_curdoc(document):
        if own:
            use_own_styles(document)
        root = pn.Column(pn.widgets.Select(options=["a"])).get_root(document)
    found = {str(each.url) for each in root.select({"type": ImportedStyleSheet})}
    assert found
    foreign = {url for url in found if url.startswith(CDN_DIST)}
    assert not foreign if own else foreign == found


def test_a_drawn_curve_does_not_keep_its_page() -> None:
    """HoloViews keeps a curve's options, and the hooks in them, in a table of the module's."""
    trace = RunTrace()
    curve = trace._curve(("log joint", np.array([[0.0, 1.0], [1.0, 2.0]])))
    gone = weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None
    assert curve is not None
