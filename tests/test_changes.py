"""Which clades changed, by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import Snapshot, Tree
from hcviz.metrics import clade_changes, nearest_clades
from hcviz.session.model import Session
from hcviz.ui.features.inspector import changed_clades
from hcviz.ui.state.store import Store
from tests.trees import random_tree

NAMES = "abcdefgh"


def sets(tree):
    return [frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 14), st.booleans())
def test_the_nearest_clade_is_the_nearest_of_all(seed, n, polytomies):
    rng = np.random.default_rng(seed)
    tree, other = random_tree(rng, n, polytomies), random_tree(rng, n)
    nodes = np.arange(n, tree.n_nodes, dtype=np.int32)
    found = nearest_clades(tree, other, nodes)
    theirs = sets(other)
    for node, (near, apart) in zip(nodes, found, strict=True):
        mine = frozenset(tree.leaves(int(node)).tolist())
        assert len(mine ^ theirs[near]) == apart == min(len(mine ^ each) for each in theirs)


def a_store(before: str, after: str, status="settled") -> Store:
    names = list(NAMES)
    old, new = (Tree.from_newick(text, names) for text in (before, after))
    snapshot = Snapshot(new, 1, 1)
    store = Store(
        Session(labels=tuple(NAMES), snapshot=snapshot, status=status), lambda call: call()
    )
    store.baseline, store.drawn = old, snapshot
    return store


@pytest.fixture
def moved():
    """h goes from the far side to a and b; e and f change sides as well."""
    made = a_store("((((a,b),c),d),((e,f),(g,h)));", "(((((a,b),h),c),d,(e,f)),g);")
    yield made
    made.close()


def test_the_clade_that_differs_most_comes_first_and_names_what_is_new(moved):
    found = changed_clades.changed_clades(moved)

    def rows_of(which):
        return [("".join(NAMES[i] for i in each.members), each.apart) for each in found[which]]

    # All but g is nearest to all of them, so none of its items is new; h is new beside a and b.
    assert [(sorted(text), apart) for text, apart in rows_of("gained")] == [
        (list("abcdefh"), 1), (list("abch"), 1), (list("abh"), 1),
    ]  # fmt: skip
    assert [text[0] for text, _ in rows_of("gained")[1:]] == ["h", "h"]
    lost = [("".join(sorted(text)), apart) for text, apart in rows_of("lost")]
    assert sorted(lost[:2]) == [("abcd", 2), ("efgh", 2)]
    assert lost[2:] == [("abc", 1), ("gh", 1)]
    shown = changed_clades.state(moved)
    assert [group["count"] for group in shown["groups"]] == [3, 4]
    gained = shown["groups"][0]["clades"]
    assert gained[2]["text"] == "h, a, b"
    assert gained[1]["text"].count(",") == 3  # four names are written out
    assert gained[0]["text"].endswith(" and 4 more")
    assert (gained[2]["size"], gained[2]["title"]) == (
        3,
        "3 items; 1 item differs from a branch of the earlier tree",
    )


def test_a_clade_of_the_list_is_selected_by_its_node(moved):
    (lost, *_) = changed_clades.changed_clades(moved)["lost"]
    assert changed_clades.clade_members(moved, "lost", lost.node) == lost.members
    assert changed_clades.clade_members(moved, "lost", 999) == ()
    assert changed_clades.clade_members(moved, "gained", lost.node + 100) == ()


def test_nothing_is_compared_while_trees_stream_in(monkeypatch):
    store = a_store("((a,b),c,d,e,f,g,h);", "((a,c),b,d,e,f,g,h);", "sampling")

    def never(*_):
        raise AssertionError("compared while streaming")

    with monkeypatch.context() as patched:
        patched.setattr(changed_clades, "nearest_clades", never)
        assert changed_clades.state(store) == {
            "title": "Since the last run",
            "later": True,
            "groups": [],
        }
    store.change_view(paused=True)  # while the run is paused, its tree is compared
    assert [each["count"] for each in changed_clades.state(store)["groups"]] == [1, 1]
    first = changed_clades.changed_clades(store)
    assert changed_clades.changed_clades(store) is first
    store.close()


def test_the_same_tree_has_changed_nothing():
    store = a_store("((a,b),c,d,e,f,g,h);", "((b,a),c,d,e,f,g,h);")
    assert [each["count"] for each in changed_clades.state(store)["groups"]] == [0, 0]
    store.baseline = None
    assert changed_clades.state(store) is None
    store.close()


def test_a_large_rerun_is_shown_within_a_frame_or_two():
    rng = np.random.default_rng(0)
    old, new = random_tree(rng, 2000), random_tree(rng, 2000)
    found = clade_changes(old, new)
    listed = changed_clades.largest_changes(new, old, found.gained)
    assert len(listed) == changed_clades.MAX_LISTED
    assert [each.apart for each in listed] == sorted((each.apart for each in listed), reverse=True)
