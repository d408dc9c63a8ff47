"""Each way to open a file reads large files on a thread: the page goes on, and can cancel."""

from __future__ import annotations

import threading

import pytest

from hcviz.session import actions as act
from hcviz.session.model import DataSpec
from hcviz.ui.features.files import controller
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.state.data_sources import TEXT_AT_ONCE
from tests.stores import over_zoo

OUTLINE = "Mammals\n  {0}\n  {1}\nRest\n  {2}\n  {3}\n"

#: The kind of file -> its name, its text about four items, and the reader that is called.
DOORS = {
    "constraints": ("a.csv", "together_1,together_2,apart\n{0},{1},{2}\n", "read_triplet_csv"),
    "anchor-near-far": ("a.csv", "{0},{1},{2}\n", "read_triplet_csv"),
    "reference": ("a.nwk", "(({0},{1}),({2},{3}));", "read_reference_tree"),
    "groups": ("a.txt", OUTLINE, "read_groups_file"),
    "second version": ("a.txt", OUTLINE, "read_groups_file"),
    "any": ("a.nwk", "(({0},{1}),({2},{3}));", "detect_file"),
}


@pytest.fixture
def store(loop):
    with over_zoo(loop, "crsc") as made:
        yield made


@pytest.fixture
def gate(monkeypatch):
    """Readers wait until they may go on; the threads on which they were called."""
    allowed, threads = threading.Event(), []

    def hold(name):
        read = getattr(controller, name)

        def waiting(*arguments):
            threads.append(threading.current_thread())
            assert allowed.wait(60)
            return read(*arguments)

        monkeypatch.setattr(controller, name, waiting)
        return allowed, threads

    yield hold
    allowed.set()
    for each in threading.enumerate():
        if each.name == "hcviz-reading":
            each.join()


def content_of(kind, labels):
    text = DOORS[kind][1].format(*labels[:4])
    return (text + "\n" * (TEXT_AT_ONCE + 1)).encode()


def changed(store):
    session = store.session
    return session.constraints, session.groups, session.second_version, store.view.sheet


@pytest.mark.parametrize("kind", DOORS)
def test_a_large_file_is_read_in_the_background(kind, store, loop, gate):
    name, _, reader = DOORS[kind]
    allowed, threads = gate(reader)
    before = changed(store)
    FileController(store, None, None).open(kind, name, content_of(kind, store.session.labels))
    assert store.view.loading.name == name
    assert changed(store) == before
    store.dispatch(act.SetSeed(5))  # the page goes on
    allowed.set()
    loop.until(lambda: store.view.loading is None and store.loader.loading is None)
    loop.until(lambda: store.session.status == "settled")
    assert store.view.error is None
    assert changed(store) != before
    assert threading.current_thread() not in threads
    assert threads


@pytest.mark.parametrize("kind", ["groups", "any"])
def test_it_can_be_cancelled(kind, store, loop, gate):
    name, _, reader = DOORS[kind]
    allowed, _ = gate(reader)
    before, files = changed(store), FileController(store, None, None)
    files.open(kind, name, content_of(kind, store.session.labels))
    files.stop()
    assert store.view.loading is None
    assert store.view.message == f"Cancelled: {name} was not opened."
    allowed.set()
    store.dispatch(act.SetSeed(5))
    loop.until(lambda: store.session.status == "settled")
    assert changed(store) == before


def test_other_data_cancel_it(store, loop, gate):
    allowed, _ = gate("read_groups_file")
    labels = store.session.labels
    FileController(store, None, None).open("groups", "a.txt", content_of("groups", labels))
    assert store.open_data(DataSpec(name="iris"))
    assert store.loader.loading is None
    assert "a.txt was not opened" in store.view.error[0]
    allowed.set()
    loop.until(lambda: store.session.status == "settled")
    assert not store.session.groups


@pytest.mark.parametrize("kind", ["constraints", "reference", "groups", "second version"])
def test_a_large_file_with_a_fault_is_a_sentence(kind, store, loop):
    name = DOORS[kind][0]
    before = changed(store)
    FileController(store, None, None).open(kind, name, b"((" + b"x" * TEXT_AT_ONCE)
    loop.until(lambda: store.view.loading is None)
    message, _ = store.view.error
    assert message.endswith((".", "."))
    assert "unexpected" not in message.lower()
    assert changed(store) == before
