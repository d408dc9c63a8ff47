"""The page shows how far the kernels are compiled, and nothing if they are compiled already."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hcviz.jobs.compiling import INTERVAL, CompilingProgress
from hcviz.session import actions as act
from hcviz.ui.app import page
from hcviz.ui.app.page import show_compiling
from hcviz.ui.features.history.model import FIRST_TREE, NO_TREE
from hcviz.ui.features.history.model import state as foot_state
from hcviz.ui.features.top_bar import model as top_bar
from tests.stores import over_zoo


class Share:
    """The share of the kernels in the cache."""

    def __init__(self, value):
        self.value, self.reads = value, 0

    def __call__(self):
        self.reads += 1
        return self.value


@pytest.fixture
def store(loop):
    with over_zoo(loop, "crsc") as made:
        yield made


def test_the_share_is_shown_while_kernels_are_compiled(clock):
    share = Share(0.1)
    progress = CompilingProgress(share, clock)
    assert progress.percent is None
    with progress.running():
        assert progress.percent == 10
        share.value = 0.4
        assert progress.percent == 10
        clock.now += INTERVAL
        assert progress.percent == 40
        assert share.reads == 2  # the disk is not read for each page
        share.value = 1.0
        clock.now += INTERVAL
        assert progress.percent == 99  # until it has ended
    assert progress.percent is None


def test_nothing_is_shown_if_nearly_all_are_in_the_cache(clock):
    progress = CompilingProgress(Share(0.9), clock)
    with progress.running():
        assert progress.percent is None


def test_a_failure_ends_it(clock):
    progress = CompilingProgress(Share(0.0), clock)
    with pytest.raises(OSError, match="full"), progress.running():
        raise OSError("full")
    assert progress.percent is None


@pytest.fixture
def progress(clock, monkeypatch):
    made = CompilingProgress(Share(0.25), clock)
    monkeypatch.setattr(page, "COMPILING", made)
    return made


def at_step(store, step, status="sampling"):
    store.session = replace(store.session, status=status, progress=(step, 100))


def test_the_page_says_that_the_first_tree_is_not_the_methods_own(store, progress):
    update, before = show_compiling(store), foot_state(store)["sentence"]
    update()
    assert store.view.compiling is None
    with progress.running():
        update()
        assert foot_state(store)["sentence"] == before
        assert top_bar.live(store)["text"] == "Done"
        at_step(store, 0)
        assert FIRST_TREE in foot_state(store)["sentence"]
        assert top_bar.live(store)["text"] == "Getting ready: 25 %"
        at_step(store, 1)
        assert FIRST_TREE not in foot_state(store)["sentence"]
        assert "Getting ready" not in top_bar.live(store)["text"]
    update()
    assert store.view.compiling is None


def test_the_page_says_that_a_tree_will_come(store, progress):
    update = show_compiling(store)
    with progress.running():
        update()
        store.dispatch(act.SetMethod("average"))  # what it says does not replace the explanation
        assert foot_state(store)["sentence"] == f"Method: average. {FIRST_TREE}"
        store.session = replace(store.session, snapshot=None)
        assert foot_state(store)["sentence"] == f"Method: average. {NO_TREE}"
    update()
    at_step(store, 0)
    assert not {FIRST_TREE, NO_TREE} & {foot_state(store)["sentence"]}


def test_with_a_full_cache_there_is_no_notice(store, clock, monkeypatch):
    monkeypatch.setattr(page, "COMPILING", CompilingProgress(Share(0.9), clock))
    update, before = show_compiling(store), store.view
    with page.COMPILING.running():
        at_step(store, 0)
        update()
    assert store.view is before
