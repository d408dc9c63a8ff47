"""Several changes of a document, one message; and the next tree only when the last is drawn."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.document.models import DocumentModelManager
from bokeh.models import ColumnDataSource, Plot, Range1d
from bokeh.protocol import Protocol
from bokeh.protocol.messages.patch_doc import patch_doc

from hcviz.ui.app.document_callbacks import DocumentCallbacks
from hcviz.ui.compat.message_batch import as_one_message, patch_message
from hcviz.ui.tree import draw_confirmation
from hcviz.ui.tree.debouncer import Debouncer


class Session:
    """What Bokeh's server does with a change, as far as it matters here."""

    def __init__(self, document: Document) -> None:
        self.sent: list = []
        self.alone: list = []
        socket = SimpleNamespace(send_message=lambda message: message)
        connection = SimpleNamespace(protocol=Protocol(), _socket=socket)
        self._subscribed_connections = [connection]
        self._pending_writes = self.sent
        document.callbacks.on_change_dispatch_to(self)
        document._session_context = lambda: SimpleNamespace(session=self)

    def _document_patched(self, event) -> None:
        self.alone.append(event)


def served():
    document = Document()
    range_, source = Range1d(start=0, end=1), ColumnDataSource({"x": [1]})
    document.add_root(range_)
    document.add_root(source)
    return document, Session(document), range_, source


def test_what_changes_within_is_one_message_and_what_changes_after_its_own():
    document, session, range_, source = served()
    with as_one_message(document):
        range_.start = 5
        range_.start = 6
        source.data = {"x": [2, 3]}
        assert not session.sent
        assert not session.alone
    (message,) = session.sent
    events = message.content["events"]
    assert [event["kind"] for event in events] == ["ModelChanged", "ColumnDataChanged"]
    assert events[0]["new"] == 6
    assert not session.alone
    range_.end = 7
    assert len(session.alone) == 1


@pytest.mark.parametrize("added", [False, True])
def test_a_message_is_what_bokeh_makes_without_a_table_of_all_models(added, monkeypatch):
    document, plot, source = Document(), Plot(), ColumnDataSource({"x": [1]})
    document.add_root(plot)
    document.add_root(source)
    document.models.flush_synced()
    changes: list = []
    document.callbacks.on_change(changes.append)
    plot.y_range = Range1d(start=3.5, end=4) if added else plot.x_range
    source.data = {"x": np.arange(3.0)}
    fresh = set(document.models._new_models)
    assert bool(fresh) is added
    messages = [patch_doc.create(changes)]
    # The second message makes no table of all models.
    monkeypatch.setattr(DocumentModelManager, "synced_references", None)
    document.models._new_models = fresh
    messages.append(patch_message(document, changes))
    assert document.models._new_models == set()
    texts = []
    for message in messages:
        (buffer,) = message.buffers
        assert bytes(buffer.data) == np.arange(3.0).tobytes()
        texts.append(message.content_json.replace(buffer.id, "buffer"))
    assert texts[0] == texts[1]
    assert ("3.5" in texts[0]) is added


def test_what_is_done_a_little_later_is_one_message_too(monkeypatch):
    """Else Panel would queue a part of it, and later messages could overtake that part."""
    document, session, range_, source = served()
    clock: list = []
    monkeypatch.setattr(document, "add_timeout_callback", lambda call, _: clock.append(call))
    monkeypatch.setattr(document, "add_next_tick_callback", clock.append)

    def change():
        range_.start += 1
        source.data = {"x": [2, 3]}

    Debouncer(SimpleNamespace(document=document))("size", change, 40)
    callbacks = DocumentCallbacks(document)
    callbacks.open()
    callbacks.schedule(change)
    assert len(clock) == 2
    for number, call in enumerate(clock):
        assert len(session.sent) == number
        call()
        assert [each["kind"] for each in session.sent[number].content["events"]] == [
            "ModelChanged",
            "ColumnDataChanged",
        ]
    assert not session.alone


def test_changes_made_by_a_callback_are_sent_too():
    document, session, range_, _ = served()

    def follow(_attribute, _old, new):
        with as_one_message(document):
            range_.end = new + 1

    range_.on_change("start", follow)
    with as_one_message(document):
        range_.start = 5
    attributes = [event["attr"] for message in session.sent for event in message.content["events"]]
    assert sorted(attributes) == ["end", "start"]
    assert not session.alone


def test_a_change_of_the_browsers_is_not_sent_back_to_it_in_the_parcel():
    document, session, range_, _ = served()
    with as_one_message(document):
        range_.set_from_json("start", 5, setter=session)
    assert not session.sent
    assert len(session.alone) == 1


def test_without_a_session_changes_are_merely_made():
    document = Document()
    range_ = Range1d(start=0, end=1)
    document.add_root(range_)
    with as_one_message(document), as_one_message(None):
        range_.start = 5
    assert range_.start == 5


def test_a_drawn_tree_is_confirmed_once_by_the_browser_or_by_the_timeout(monkeypatch):
    monkeypatch.setattr(draw_confirmation, "TIMEOUT", 0.05)

    async def scene() -> list[str]:
        called: list[str] = []
        listener = draw_confirmation.DrawConfirmation(ColumnDataSource({"x": []}))
        listener.wait(lambda: called.append("answered"))
        assert called == []
        listener.answer.data = {"count": [1]}
        assert called == ["answered"]
        listener.wait(lambda: called.append("overtaken"))
        listener.wait(lambda: called.append("waited for"))
        assert called == ["answered", "overtaken"]
        await asyncio.sleep(0.2)
        listener.answer.data = {"count": [2]}
        return called

    # In a thread of its own: Playwright, once started, leaves this one with a running loop.
    with ThreadPoolExecutor(1) as pool:
        called = pool.submit(lambda: asyncio.run(scene())).result()
    assert called == ["answered", "overtaken", "waited for"]
