"""A leaf dropped on a clade: what it is to be apart from, and what the page makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz.core.build import build_guided, chain_triplets
from hcviz.core.tree import Tree
from hcviz.session import actions as act
from hcviz.session.draft import Draft
from hcviz.session.drop import item_set_apart
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.tree import Centre, Items
from tests.stores import over_zoo
from tests.trees import random_tree

NAMES = "abcdefgh"


def tree_of(text: str) -> Tree:
    return Tree.from_newick(text, NAMES[: sum(c.isalpha() for c in text)])


@pytest.mark.parametrize(
    ("text", "item", "members", "apart"),
    [
        # dropped on the clade itself: before the sibling's leaf that is drawn nearest
        ("((a,b),((c,d),e));", "e", "ab", "c"),
        ("((a,b),((c,d),e));", "a", "cd", "e"),
        # on a leaf; on its sister: nothing new, so the next clade up
        ("((a,b),((c,d),e));", "a", "c", "d"),
        ("((a,b),((c,d),e));", "a", "b", "c"),
        ("((a,b),((c,d),e));", "e", "cd", "b"),
        # of several siblings the largest
        ("((a,b),c,(d,e,f));", "c", "ab", "d"),
        # its own clade; everything
        ("((a,b),((c,d),e));", "c", "cde", None),
        ("((a,b),c);", "c", "ab", None),
    ],
)
def test_the_leaf_that_stays_apart(text, item, members, apart):
    tree = tree_of(text)
    found = item_set_apart(
        tree, NAMES.index(item), [NAMES.index(m) for m in members], range(tree.n_leaves)
    )
    assert found == (None if apart is None else NAMES.index(apart))


@settings(max_examples=200, deadline=None)
@given(st.integers(3, 12), st.integers(0, 10**6), st.booleans())
def test_the_repaired_tree_has_the_leaf_in_the_clade(n, seed, polytomies):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, polytomies)
    order = rng.permutation(n)
    for item in range(n):
        for node in range(tree.n_nodes - 1):
            members = tree.leaves(node).tolist()
            apart = item_set_apart(tree, item, members, order)
            if item in members or len(members) + 1 == n:
                assert apart is None
                continue
            assert apart is not None
            assert apart not in (item, *members)
            rows = chain_triplets([item, *members], apart)
            after = build_guided(tree, rows)
            assert after.satisfies(rows).all()
            # The sibling that was left out is out: it holds all that lay beside the clade.
            lowest = after.lca(item, members[0])
            for member in members:
                lowest = after.lca(lowest, member)
            assert apart not in after.leaves(lowest)


# ---------------------------------------------------------------------- the picture's part


@pytest.fixture
def centre():
    drags = []
    made = Centre(on_pick=lambda _: None, on_drag=lambda *args: drags.append(args))
    made.set_items(Items(list("abcde")))
    made.set_tree(tree_of("((a,b),((c,d),e));"))
    made.drags = drags
    return made


def rows_of(centre, names):
    layout = centre.state.layout
    rows = [layout.place_row[layout.place["abcde".index(name)]] for name in names]
    return min(rows), max(rows) + 1


def send(centre, phase, row, top=-1, bottom=-1, serial=None):
    drag = centre.figures.drag
    fields = {"phase": phase, "row": row, "top": top, "bottom": bottom,
            "serial": centre.figures.preview.serial if serial is None else serial}  # fmt: skip
    seq = drag.drop.data["seq"][0] + 1
    drag.drop.data = {"seq": [seq]} | {name: [value] for name, value in fields.items()}


def test_rows_become_leaves(centre):
    row = rows_of(centre, "e")[0]
    send(centre, "begin", row)
    send(centre, "drop", row, *rows_of(centre, "ab"))
    send(centre, "begin", row)
    send(centre, "leave", row)
    (_, first, _), (phase, leaf, members), _, (last, _, _) = centre.drags
    assert (first, phase, leaf, sorted(members), last) == (4, "drop", 4, [0, 1], "leave")


def test_rows_are_those_of_the_tree_that_was_shown(centre):
    row, target = rows_of(centre, "e")[0], rows_of(centre, "ab")
    serial = centre.figures.preview.serial
    centre.set_tree(tree_of("((a,e),((c,d),b));"))
    assert centre.figures.preview.serial > serial
    send(centre, "begin", row, serial=serial)
    send(centre, "drop", row, *target, serial=serial)
    assert [(phase, leaf, sorted(m)) for phase, leaf, m in centre.drags] == [
        ("begin", 4, []), ("drop", 4, [0, 1]),
    ]  # fmt: skip


def test_a_wedge_is_a_target_and_no_leaf(centre):
    centre.toggle_collapse([2, 3])
    wedge = rows_of(centre, "cd")
    send(centre, "begin", wedge[0])
    assert centre.drags == []
    row = rows_of(centre, "a")[0]
    send(centre, "begin", row)
    send(centre, "drop", row, *wedge)
    assert (centre.drags[-1][0], sorted(centre.drags[-1][2])) == ("drop", [2, 3])


@pytest.mark.parametrize("sent", [(0, 99, 3), (99, 0, 1), (0, 3, 3), (-1, 0, 1), (0, -5, 2)])
def test_invalid_messages_from_the_browser_are_ignored(centre, sent):
    row, top, bottom = sent
    send(centre, "begin", row)
    send(centre, "drop", row, top, bottom)
    send(centre, "begin", row, serial=12345)
    assert all(phase in ("begin", "leave") for phase, _, _ in centre.drags)


# ---------------------------------------------------------------------- the page's part


@pytest.fixture
def zoo(loop):
    with over_zoo(loop, "average") as made:
        made.drawn = made.session.snapshot
        yield made


def test_a_drop_is_a_draft_and_a_release_elsewhere_is_nothing(zoo):
    gestures = Gestures(zoo)
    zoo.change_view(draft=Draft().begin_together((3, 4)))
    gestures.dragged("begin", 0, ())
    assert "drop it" in zoo.view.draft.sentence(zoo.session.labels)
    gestures.dragged("leave", 0, ())
    assert zoo.view.draft == Draft("together", (3, 4))
    tree = zoo.drawn.tree
    sister = next(v for v in range(tree.n_leaves) if tree.parent[v] != tree.parent[0] and v != 0)
    gestures.dragged("begin", 0, ())
    gestures.dragged("drop", 0, (sister,))
    statement = zoo.view.draft.ready
    assert statement[0] == (0, sister)
    assert statement[1] == item_set_apart(tree, 0, [sister])
    assert "The odd one is a guess" in zoo.view.draft.sentence(zoo.session.labels)
    more = zoo.view.draft.pick((next(i for i in range(9) if i not in (0, sister, statement[1])),))
    assert "guess" not in more.sentence(zoo.session.labels)  # the person chose odd ones too
    assert zoo.session.constraints == ()  # until Enter
    gestures.key("Enter")
    assert zoo.session.constraints[0].statement == statement
    zoo.dispatch(act.Undo())
    everything = tuple(range(1, len(zoo.session.labels)))
    gestures.dragged("begin", 0, ())
    gestures.dragged("drop", 0, everything)
    assert (zoo.view.draft, "no item is left" in zoo.view.message) == (Draft(), True)
    gestures.dragged("begin", 0, ())
    gestures.dragged("drop", 0, (0, 1))
    assert "already in this branch" in zoo.view.message
    gestures.dragged("begin", 0, ())
    gestures.key("Escape")
    gestures.dragged("drop", 0, (5,))  # too late: it was cleared
    assert zoo.view.draft == Draft()
