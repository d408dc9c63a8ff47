"""Contracts of Panel's and Bokeh's internals, in a session that a real server and client share.

Each test names the module of ``hcviz/ui/compat`` that breaks if it fails.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import time
import weakref
from collections.abc import Callable
from threading import Thread
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import panel as pn
import param
import pytest
from bokeh.document import Document
from bokeh.document.events import ModelChangedEvent
from bokeh.models import ColumnDataSource, Div, ImportedStyleSheet, Range1d
from bokeh.plotting import figure
from bokeh.protocol import Protocol
from bokeh.protocol.message import Message
from panel.custom import Child, JSComponent
from panel.io.notebook import render_mimebundle
from panel.io.resources import CDN_DIST
from panel.io.state import state
from pyviz_comms import Comm
from tornado.websocket import WebSocketClosedError

from hcviz.ui.compat.current_document import current_document
from hcviz.ui.compat.document_cleanup import clear_document
from hcviz.ui.compat.figure_size import pixel_size
from hcviz.ui.compat.local_style_sheets import use_local_style_sheets
from hcviz.ui.compat.message_batch import as_one_message, patch_message
from hcviz.ui.compat.message_component import (
    MessageComponent,
    MessageFrame,
    PlainJson,
    json_text,
)
from hcviz.ui.compat.next_tick import on_next_tick
from hcviz.ui.compat.notebook_cells import cell_documents, display_of
from hcviz.ui.compat.notebook_connection import NotebookConnection
from hcviz.ui.compat.python_parameters import python_only
from hcviz.ui.compat.server_session import browser_count, server_session
from hcviz.ui.compat.single_write import bokeh_send, send
from tests.served import Served, served


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


class Sent:
    """The messages that a server sends to a page's only connection."""

    def __init__(self, page: Served) -> None:
        self.patches: list[Any] = []
        (connection,) = page.session._subscribed_connections
        socket: Any = connection._socket
        send = socket.send_message

        def noted(message: Any) -> Any:
            if message.msgtype == "PATCH-DOC":
                self.patches.append(message)
            return send(message)

        socket.send_message = noted


def two_models() -> tuple[Range1d, ColumnDataSource]:
    return Range1d(start=0, end=1, name="range"), ColumnDataSource({"x": [1]}, name="source")


def page_of_two_models() -> Any:
    document = pn.state.curdoc
    for model in two_models():
        document.add_root(model)
    return pn.Spacer()


@pytest.fixture(scope="module")
def page():
    with served(page_of_two_models) as found:
        yield found


def models(page: Served) -> tuple[Any, Any]:
    find = page.document.get_model_by_name
    return find("range"), find("source")


# ---------------------------------------------------------------------- message_batch


def test_message_batch_sends_all_changes_in_one_message(page):
    range_, source = models(page)
    sent = Sent(page)

    def change() -> None:
        with as_one_message(page.document):
            range_.start = 5
            source.data = {"x": [2, 3]}
            range_.start = 6

    page.locked(change)
    (patch,) = sent.patches
    assert [event["kind"] for event in patch.content["events"]] == [
        "ModelChanged",
        "ColumnDataChanged",
    ]
    assert patch.content["events"][0]["new"] == 6


def test_message_batch_is_still_needed_because_bokeh_sends_each_change_alone(page):
    """If this fails, Bokeh or Panel joins changes by itself, and the module can be removed."""
    range_, source = models(page)
    sent = Sent(page)

    def change() -> None:
        range_.start = 7
        source.data = {"x": [4]}

    page.locked(change)
    until(lambda: len(sent.patches) == 2)


def test_message_batch_does_not_send_a_browsers_change_back(page):
    range_, _ = models(page)
    sent, seen = Sent(page), []

    def follow(_attribute: str, _old: Any, new: float) -> None:
        with as_one_message(page.document):
            seen.append(new)
            range_.start = -new

    page.on_thread(lambda: range_.on_change("end", follow))
    page.client.document.get_model_by_name("range").end = 9
    page.client.force_roundtrip()
    until(lambda: bool(seen))
    until(lambda: bool(sent.patches))
    changed = [event["attr"] for patch in sent.patches for event in patch.content["events"]]
    assert (seen, changed) == ([9], ["start"])
    page.on_thread(lambda: range_.remove_on_change("end", follow))


# ---------------------------------------------------------------------- server_session


def test_server_session_counts_the_browsers_of_a_document():
    assert browser_count(Document()) is None
    with served(page_of_two_models) as found:
        document = found.document
        assert server_session(document) is found.session
        assert browser_count(document) == 1
        found.client.close()
        until(lambda: browser_count(document) == 0)


# ---------------------------------------------------------------------- current_document


def test_current_document_is_the_one_that_panel_changes(page):
    def seen() -> tuple[Any, Any]:
        with current_document(page.document):
            within = pn.state.curdoc
        return within, pn.state.curdoc

    within, after = page.on_thread(seen)
    assert within is page.document
    assert after is not page.document


# ---------------------------------------------------------------------- next_tick


class HeldEvents(list[Any]):
    """Held events; when they are copied at the end of the hold, ``then`` is called."""

    def __init__(self, events: list[Any], then: Callable[[], None]) -> None:
        super().__init__(events)
        self._then = then

    def __iter__(self) -> Any:
        yield from super().__iter__()
        self._then()


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (on_next_tick, ["tree", "done"]),
        # If this one fails, Bokeh has become safe for threads, and the module can be removed.
        (Document.add_next_tick_callback, ["done", "tree"]),
    ],
)
def test_next_tick_keeps_the_order_while_another_thread_ends_a_hold(page, schedule, expected):
    """A thread schedules a tree during a hold, and the run's end while the hold ends."""
    ran: list[str] = []

    def from_a_thread(word: str) -> None:
        thread = Thread(target=lambda: schedule(page.document, lambda: ran.append(word)))
        thread.start()
        thread.join()

    def update() -> None:
        callbacks = page.document.callbacks
        with as_one_message(page.document):
            from_a_thread("tree")
            held = HeldEvents(callbacks._held_events, lambda: from_a_thread("done"))
            callbacks._held_events = held

    page.locked(update)
    until(lambda: len(ran) == 2)
    assert ran == expected


def test_next_tick_drops_what_comes_after_the_end_of_a_session(caplog):
    """The loop would log a traceback: the document's lists are gone."""
    with served(page_of_two_models) as found:
        document, session = found.document, found.session
        ran: list[str] = []

        def end() -> None:
            on_next_tick(document, lambda: ran.append("before"))
            session.destroy()
            clear_document(document)

        found.on_thread(end)
        found.on_thread(lambda: None)
        found.on_thread(lambda: None)
    assert not ran
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


# ---------------------------------------------------------------------- message_component


class Counter(MessageComponent):
    count = param.Integer(default=0)
    _esm = "export function render() {}"


class Plain(MessageComponent):
    state = PlainJson(default={})
    _esm = "export function render() {}"


class Frame(MessageFrame):
    inner = Child()
    count = param.Integer(default=0)
    _esm = "export function render() {}"


def test_message_component_marks_its_script_and_blocks_changes_by_the_browser():
    made: list[Counter] = []

    def make() -> Counter:
        made.append(Counter())
        return made[-1]

    with served(make) as found:
        component = made[-1]
        (model,) = (m for m in found.client.document.models if hasattr(m, "esm"))
        assert model.bundle == hashlib.sha256(model.esm.encode()).hexdigest()
        found.locked(lambda: setattr(component, "count", 3))
        until(lambda: found.document.get_model_by_id(model.id).data.count == 3)
        model.data.count = 8
        found.client.force_roundtrip()
        assert component.count == 3


def test_plain_json_is_sent_as_text_without_a_search_for_models(monkeypatch):
    made: list[Plain] = []

    def make() -> Plain:
        made.append(Plain(state={"a": [1, {"b": "ü"}]}))
        return made[-1]

    with served(make) as found:
        (model,) = (m for m in found.client.document.models if hasattr(m, "esm"))
        assert json.loads(model.data.state) == {"a": [1, {"b": "ü"}]}
        called: list[Any] = []
        search = JSComponent._update_model
        monkeypatch.setattr(
            JSComponent, "_update_model", lambda *a, **k: (called.append(a), search(*a, **k))
        )
        found.locked(lambda: setattr(made[-1], "state", {"a": float("nan")}))
        data = found.document.get_model_by_id(model.id).data
        until(lambda: json.loads(data.state) == {"a": None})
        assert made[-1].state != {"a": None}  # Python keeps what it was given
        assert not called
        found.locked(lambda: setattr(made[-1], "width", 300))
        until(lambda: called)


def test_numbers_that_json_lacks_become_null():
    value = {"a": (1.5, float("inf")), "b": [{"c": float("nan")}], "d": None, "e": "NaN"}
    assert json.loads(json_text(value)) == {
        "a": [1.5, None],
        "b": [{"c": None}],
        "d": None,
        "e": "NaN",
    }


def test_message_frame_tags_its_own_data_only():
    """Panel calls ``_patch_datamodel_ref`` with the data model and the root's reference."""
    with served(lambda: Frame(inner=Counter())) as found:
        data = [model.data for model in found.document.models if hasattr(model, "esm")]
        before = [list(each.tags) for each in data]
        root = next(tag.removeprefix("__ref:") for tag in before[0])
        for each in data:
            JSComponent._patch_datamodel_ref(each, root)
        after = [list(each.tags) for each in data]
    assert len(data) == 2
    assert before == after == [[f"__ref:{root}"]] * 2


# ---------------------------------------------------------------------- single_write


def frames_written(page: Served, method: Any, message: Message[Any]) -> list[bytes]:
    """What a method of sending writes to the page's connection; nothing reaches the client."""
    (connection,) = page.session._subscribed_connections
    stream, written = connection._socket.ws_connection.stream, []

    async def work() -> None:
        def write(frames: bytes) -> Any:
            written.append(frames)
            return asyncio.sleep(0)

        stream.write = write
        try:
            await method(message, connection._socket)
        finally:
            del stream.write

    asyncio.run_coroutine_threadsafe(work(), page.loop).result(30)
    return written


def test_a_message_is_written_at_once_as_bokeh_writes_it_in_pieces(page):
    """The last line fails once Bokeh writes messages at once; the module can then be removed."""
    _, source = models(page)
    change = ModelChangedEvent(page.document, source, "data", {"x": np.arange(100.0), "y": [1]})
    message = patch_message(page.document, [change])
    once, pieces = (frames_written(page, each, message) for each in (send, bokeh_send))
    assert len(once) == 1
    assert b"".join(once) == b"".join(pieces)
    assert len(pieces) == 5


def test_pages_use_it() -> None:
    import hcviz.ui.app.page  # noqa: F401

    assert Message.send is send


def test_a_message_to_a_closed_connection_is_the_error_that_bokeh_expects(page, monkeypatch):
    (connection,) = page.session._subscribed_connections
    monkeypatch.setattr(connection._socket.ws_connection, "is_closing", lambda: True)
    message = Protocol().create("OK", "1")
    with pytest.raises(WebSocketClosedError):
        frames_written(page, send, message)


# ---------------------------------------------------------------------- python_parameters


class Sheet(pn.Row):
    words = param.Dict(default={})
    _rename: ClassVar = python_only(pn.Row, "words")


def test_python_parameters_are_not_sent():
    sheet = Sheet(pn.Spacer())
    with served(lambda: sheet) as found:
        (row,) = (m for m in found.client.document.models if type(m).__name__ == "Row")
        assert "words" not in row.properties()
        found.locked(lambda: setattr(sheet, "words", {"a": 1}))  # Panel looks for no property


# ---------------------------------------------------------------------- local_style_sheets


@pytest.mark.parametrize("is_local", [True, False])
def test_local_style_sheets_are_used_by_a_session_whose_page_was_not_rendered(is_local):
    """The second case fails once Panel is corrected; the module can then be removed."""

    def make() -> Any:
        if is_local:
            use_local_style_sheets(pn.state.curdoc)
        return pn.widgets.Select(options=["a"])

    with served(make) as found:  # the client opens the socket without the page's HTML
        urls = {each.url for each in found.client.document.select({"type": ImportedStyleSheet})}
    assert urls
    foreign = {url for url in urls if url.startswith(CDN_DIST)}
    assert not foreign if is_local else foreign


# ---------------------------------------------------------------------- document_cleanup


def test_document_cleanup_frees_the_models_of_a_destroyed_session():
    models: list[weakref.ref[Any]] = []

    def make() -> Any:
        div = Div()
        models.append(weakref.ref(div))
        pn.state.curdoc.add_root(div)
        return pn.Spacer()

    with served(make) as found:
        session, document = found.session, found.document
        found.client.close()
        until(lambda: browser_count(document) == 0)
        found.on_thread(session.destroy)
        found.on_thread(lambda: clear_document(document))
        del session
        gc.collect()
        assert models[-1]() is None
        assert document is not None  # as a frozen document stays


# ---------------------------------------------------------------------- figure_size


def test_figure_size_is_assumed_until_the_browser_has_sent_it():
    plot = figure()
    assert pixel_size(plot, "inner_width", 420) == 420
    with served(lambda: pn.pane.Bokeh(plot)) as found:
        sent = found.document.select_one({"type": type(plot)})
        assert pixel_size(sent, "inner_width", 420) == 420  # nothing is drawn here


# ---------------------------------------------------------------------- notebooks


def test_notebook_cells_are_found_by_their_comm_and_forgotten_with_their_output():
    view = pn.Column(pn.Spacer())
    before = len(cell_documents())
    document, comm = Document(), Comm()
    root = view._render_model(document, comm)
    assert cell_documents()[before:] == [document]
    assert display_of(root.ref["id"]) == (view, root, document, comm)
    assert list(view._models) == [root.ref["id"]]
    view._cleanup(root)
    assert not view._models
    state._views.pop(root.ref["id"], None)  # as Panel does when the output is deleted
    assert len(cell_documents()) == before
    assert display_of(root.ref["id"]) is None


def test_kernel_roots_have_the_comm_of_the_browser():
    """``compat/kernel_roots.js`` finds the same root in the browser."""
    view, document = pn.Column(pn.Spacer()), Document()
    comm = Comm()
    root = view._render_model(document, comm)
    assert not any(getattr(each, "client_comm_id", None) for each in document.roots)
    view._render_mimebundle(root, document, comm)
    (manager,) = (each for each in document.roots if getattr(each, "client_comm_id", None))
    assert "client_comm_id" in manager.properties()
    view._cleanup(root)


class Recorder(Comm):
    """Panel's comm, but what would go to Jupyter is kept."""

    def init(self, on_open: Any = None) -> None:
        self._comm = self
        self.sent: list[Any] = []

    def send(self, data: Any = None, metadata: Any = None, buffers: Any = ()) -> None:
        self.sent.append(data)

    @property
    def patches(self) -> list[str]:
        """The changes of each message. Panel sends a message's header and changes apart."""
        return [str(data) for data in self.sent if '"events"' in str(data)]


class EmbeddedFrame(MessageFrame):
    beat = param.Integer(default=0)
    first = param.Integer(default=0)
    second = param.Integer(default=0)
    on_shown: Callable[[int], None]
    _esm = "export function render() {}"


def test_notebook_connection_sends_all_changes_of_a_cell_together():
    view, document, comm = EmbeddedFrame(), Document(), Recorder()
    comm.init()
    store = SimpleNamespace(runner=SimpleNamespace(pause=lambda: None))
    store.session = SimpleNamespace(status="settled")
    connection = NotebookConnection(None)
    connection.attach(SimpleNamespace(view=view, store=store))
    root = view._render_model(document, comm)
    render_mimebundle(root, document, comm)  # the output of a cell
    with connection.together():
        view.first = 1
    assert comm.sent == []  # the page has not drawn the cell
    view.on_shown(view.beat)
    (first,) = comm.patches  # the page is answered, with the change
    assert '"first"' in first
    with connection.together():
        view.first = 2
        view.second = 3
    assert len(comm.patches) == 1  # the page has not confirmed the first message
    view.on_shown(view.beat)
    _, second = comm.patches
    assert '"first"' in second
    assert '"second"' in second
    view._cleanup(root)
    assert not view._models
