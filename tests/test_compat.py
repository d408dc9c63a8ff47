"""Bugs of Panel and Bokeh that ``ui/compat`` works around, and that they still exist.

Contracts in a real session are in ``test_compat_sessions.py``.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import io
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import Div
from bokeh.resources import INLINE
from panel.io.save import save

from hcviz.ui.compat.busy_cleanup import start_busy_cleanup
from hcviz.ui.compat.document_cleanup import clear_document
from hcviz.ui.compat.saved_page import write_page
from hcviz.ui.features.run_trace.view import RunTrace


@pytest.mark.parametrize(
    ("start", "kept"), [(start_busy_cleanup, False), (pn.state._schedule_busy_cleanup, True)]
)
def test_the_first_document_is_not_kept_by_panels_timer(
    start: Callable[[], None], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second case fails once Panel is corrected; the module can then be removed."""
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


def test_clear_document_frees_the_models_that_bokeh_leaves_in_it() -> None:
    """The document itself stays, as after ``gc.freeze``. Fails if Bokeh renames its containers."""
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
    clear_document(document)
    gc.collect()
    assert gone() is None


def test_a_drawn_curve_does_not_keep_its_page() -> None:
    """HoloViews keeps a curve's options and hooks in a global table."""
    trace = RunTrace(lambda *_: None, {})
    curve = trace.curve(("log joint", np.array([[0.0, 1.0], [1.0, 2.0]])))
    gone = weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None
    assert curve is not None


def test_a_saved_page_needs_no_other_host(tmp_path: Path) -> None:
    """Panel's own page does; once it does not, ``saved_page`` can go."""
    view = pn.Column(pn.widgets.Button(label="Mine to press"))
    page = io.StringIO()
    save(view, page, title="Mine", resources=INLINE)
    assert LINK_ELSEWHERE in page.getvalue()
    assert "ImportedStyleSheet" in models_of(page.getvalue())
    write_page(view, tmp_path / "page.html", "Mine")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Mine</title>" in text
    assert LINK_ELSEWHERE not in text
    assert "Mine to press" in models_of(text)
    assert "ImportedStyleSheet" not in models_of(text)


LINK_ELSEWHERE = 'href="https://'


def models_of(page: str) -> str:
    """Return the models of a saved page, which are its last JSON."""
    return page[page.rindex('<script type="application/json"') :]
