"""The page shows how far the kernels are compiled, and nothing if they are compiled already."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hcviz.jobs.compiling import INTERVAL, CompilingProgress
from hcviz.session import actions as act
from hcviz.ui.app import page
from hcviz.ui.app.page import show_compiling
from hcviz.ui.features.history.model import FIRST_START
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


def test_the_page_shows_a_notice_until_the_first_tree(store, clock, monkeypatch):
    progress = CompilingProgress(Share(0.25), clock)
    monkeypatch.setattr(page, "COMPILING", progress)
    check = show_compiling(store)
    check()
    assert store.view.compiling is None
    with progress.running():
        check()
        assert top_bar.live(store)["text"] == "Done"  # a tree is shown
        assert FIRST_START not in foot_state(store)["sentence"]
        store.session = replace(store.session, status="sampling")
        assert top_bar.live(store)["text"] == "Compiling: 25 %"
        store.dispatch(act.SetMethod("average"))  # what it says does not replace the explanation
        assert foot_state(store)["sentence"] == f"Method: average. {FIRST_START}"
        store.session = replace(store.session, status="settled")
    check()
    assert store.view.compiling is None
    assert FIRST_START not in foot_state(store)["sentence"]
