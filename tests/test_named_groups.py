"""Named groups on the page, without a browser: the panel, the name field, reruns and files."""

from __future__ import annotations

import base64
import json
from xml.etree import ElementTree

import pytest

from hcviz import Group, Taxonomy, Tree
from hcviz.algorithms import get
from hcviz.core.errors import InvalidTaxonomy
from hcviz.io.journal import SessionSummary
from hcviz.io.unfinished import UnfinishedSession
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE
from hcviz.taxonomy.formats import FORMATS, READERS
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.features.autosave import model as autosave_model
from hcviz.ui.features.constraints.controller import ACTS as CONSTRAINT_ACTS
from hcviz.ui.features.groups import model
from hcviz.ui.features.groups.taxonomy_files import groups_note, read_groups_file
from hcviz.ui.features.history import model as history_model
from hcviz.ui.features.inspector import model as inspector_model
from tests.test_taxonomy import kitchen


@pytest.fixture
def page(loop):
    """The zoo under average linkage, and what the page saves."""
    explorer = Explorer(loop.schedule, link=Link(method="average"))
    loop.until(lambda: explorer.store.session.status == "settled")
    explorer.saved = []
    explorer.bar.download = lambda name, content, mime: explorer.saved.append((name, content))
    yield explorer
    explorer.close()


#: The fields of the form that saves a picture.
PICTURE = {
    "format": "svg", "width": 0, "height": 0, "heatmap": True, "supports": True, "names": True,
    "caption": True,
}  # fmt: skip


def clades(store, least, most):
    """Clades with so many items, as tuples of items; larger ones first."""
    tree = store.drawn.tree
    nodes = [v for v in range(tree.n_leaves, tree.root) if least <= tree.size[v] <= most]
    nodes.sort(key=lambda v: -tree.size[v])
    return [tuple(tree.leaves(v).tolist()) for v in nodes]


def name(page, items, text):
    """Select items and name them, as the field in the inspector does."""
    page.store.change_view(selection=items)
    key = inspector_model.state(page.store)["selection"]["group"]["key"]
    page.controls["inspector"].act("name-group", {"name": text, "key": key})


def rows(page):
    return [(row["name"], row["level"], row["count"]) for row in page.groups.state["rows"]]


def nested(page):
    """Two clades of the tree, one in the other."""
    outer = clades(page.store, 8, 40)[0]
    inner = next(each for each in clades(page.store, 3, 39) if set(each) < set(outer))
    return outer, inner


def test_a_selected_branch_gets_a_name_with_one_message(page):
    outer, inner = nested(page)
    name(page, inner, "Inner")
    name(page, outer, "Outer")
    assert rows(page) == [("Outer", 1, len(outer)), ("Inner", 2, len(inner))]
    assert page.groups.state["tray"] == []
    field = inspector_model.state(page.store)["selection"]["group"]
    assert (field["name"], field["parent"]) == ("Outer", "")
    page.store.change_view(selection=inner)
    assert inspector_model.state(page.store)["selection"]["group"]["parent"] == "Outer"
    assert [row["selected"] for row in page.groups.state["rows"]] == [False, True]
    name(page, inner, "Within")  # the same field renames it
    assert [row[0] for row in rows(page)] == ["Outer", "Within"]
    page.store.dispatch(act.Undo(), act.Undo())
    assert [row[0] for row in rows(page)] == ["Inner"]
    page.store.dispatch(act.Redo())
    assert [row[0] for row in rows(page)] == ["Outer", "Inner"]


def test_a_name_for_other_items_than_those_selected_is_not_used(page):
    first, second = clades(page.store, 3, 12)[:2]
    page.store.change_view(selection=first)
    key = inspector_model.state(page.store)["selection"]["group"]["key"]
    page.store.change_view(selection=second)
    page.controls["groups"].act("name-group", {"name": "Late", "key": key})
    assert page.store.session.groups == ()
    assert "selection has changed" in page.store.view.error[0]


def test_bad_names_get_a_sentence(page):
    first, second = clades(page.store, 3, 12)[:2]
    name(page, first, "One")
    name(page, second, "   ")
    assert "needs a name" in page.store.view.error[0]
    if not set(first) & set(second):
        name(page, second, "One")
        assert "at the top level already" in page.store.view.error[0]
    assert [each.name for each in page.store.session.groups] == ["One"]


def test_the_key_for_names_gives_a_hint_without_a_selection(page):
    page.keyboard.press("n")
    assert "Select a branch first" in page.store.view.message


def test_one_item_has_no_field_and_every_set_of_two_has(page):
    page.store.change_view(selection=(3,))
    assert inspector_model.state(page.store)["selection"]["group"] is None
    page.store.change_view(selection=(3, 50))
    assert inspector_model.state(page.store)["selection"]["group"]["id"] == ""


def test_the_panel_edits_shows_and_removes(page):
    outer, inner = nested(page)
    name(page, inner, "Inner")
    (group,) = page.store.session.groups
    controls = page.controls["groups"]
    controls.act("group-note", {"id": group.id, "value": " soft "})
    controls.act("group-alternatives", {"id": group.id, "value": "In; ; Within"})
    controls.act("group-status", {"id": group.id, "accepted": True})
    controls.act("rename-group", {"id": group.id, "name": "Core"})
    expected = Group("Core", inner, "soft", ("In", "Within"), "accepted", id=group.id)
    assert page.store.session.groups == (expected,)
    page.store.change_view(selection=outer)
    controls.act("show-group", {"id": group.id})
    assert set(page.store.view.selection) == set(inner)
    controls.act("remove-group", {"id": group.id})
    assert page.groups.state["rows"] == []
    controls.act("show-group", {"id": group.id})
    assert "no longer" in page.store.view.error[0]


def test_names_are_in_the_tree_the_tooltip_and_the_saved_pictures(page, loop):
    outer, inner = nested(page)
    name(page, outer, "Outer & all")
    name(page, inner, "Inner")
    shown = page.centre.figures.dendrogram.names.data["text"]
    assert "Inner" in shown
    page.files.act("save-picture", PICTURE)
    loop.until(lambda: page.saved)
    assert "Inner</text>" in page.saved[0][1].decode()
    made = get(page.store.session.method).title
    assert f"{made} of {page.store.problem.n_items} items." in page.saved[0][1].decode()
    page.centre.toggle_collapse(inner)
    assert f"Inner ({len(inner)})" in page.centre.figures.labels.text.data["text"]
    assert "Inner" not in page.centre.figures.dendrogram.names.data["text"]
    page.store.dispatch(act.EditGroup(page.store.session.groups[1].id, name="Inner " * 9))
    assert not any("Inner" in each for each in page.centre.figures.labels.text.data["text"])
    assert any("Inner" in each for each in page.centre.figures.dendrogram.names.data["text"])
    page.store.dispatch(act.Undo())
    scene = page.centre.renderer.scene
    slot = scene.slot_of(page.store.drawn.tree.smallest_clade(inner))
    row = float(scene.y[slot])
    title, text, _ = page.centre.pointer.describe("labels", 5.0, -row)
    assert title == "Inner"
    assert text.startswith(f"{len(inner)} items: ")
    assert "in Outer & all" in text
    page.store.dispatch(act.RemoveGroup(page.store.session.groups[1].id))
    assert not any("Inner" in each for each in page.centre.figures.labels.text.data["text"])


def test_a_name_is_one_line_in_the_picture_and_as_typed_in_the_panel(page, loop):
    name(page, nested(page)[0], "two\nlines \x01 <b>")
    assert page.centre.figures.dendrogram.names.data["text"] == ["two lines <b>"]
    assert page.groups.state["rows"][0]["name"] == "two\nlines \x01 <b>"
    page.files.act("save-picture", PICTURE)
    loop.until(lambda: page.saved)
    ElementTree.fromstring(page.saved[0][1])


def test_names_go_with_the_items_through_a_rerun(page, loop):
    store = page.store
    items = clades(store, 3, 40)
    for number, each in enumerate(items[:12]):
        name(page, each, f"Group {number}")
    before, members = rows(page), [each.members for each in store.session.groups]
    store.dispatch(act.SetMethod("ward"))
    loop.until(lambda: store.session.status == "settled")
    placed, tray = page.groups.state["rows"], page.groups.state["tray"]
    assert len(placed) + len(tray) == 12
    assert [each.members for each in store.session.groups] == members
    taxonomy = Taxonomy(store.session.labels, store.session.tree, store.session.groups)
    assert {row["name"] for row in tray} == {group.name for group in taxonomy.unplaced}
    changed = {row["name"]: row["change"]["text"] for row in placed if row["change"]}
    assert set(changed) == {change.name for change in taxonomy.changes}
    assert changed or tray  # else the test checks nothing
    assert "in this tree." in history_model.state(store)["sentence"]
    store.dispatch(act.Undo())
    assert rows(page) == before


def test_a_change_is_accepted_into_the_members(page, loop):
    store = page.store
    outer = clades(store, 8, 40)[0]
    outsider = next(item for item in range(store.session.n_items) if item not in outer)
    tree = store.drawn.tree
    missing = max(outer, key=lambda item: tree.depth[item])
    members = (*(item for item in outer if item != missing), outsider)
    store.dispatch(act.NameGroup(members, "Nearly"))
    (row,) = page.groups.state["rows"]
    labels = store.session.labels
    assert row["change"]["text"] == f"+1 {labels[missing]}, −1 {labels[outsider]}"
    page.controls["groups"].act("accept-group", {"id": row["id"]})
    assert store.session.groups[0].members == tuple(sorted(outer))
    assert page.groups.state["rows"][0]["change"] is None
    store.dispatch(act.Undo())
    page.controls["groups"].act("accept-groups", {})
    assert store.session.groups[0].members == tuple(sorted(outer))


def test_a_group_without_a_place_is_put_at_the_selected_branch(page):
    store = page.store
    far = tuple(each[0] for each in clades(store, 8, 20)[:3])
    inner = clades(store, 3, 6)[0]
    store.dispatch(act.NameGroup((0, far[0], far[1], store.session.n_items - 1, 50), "Lost"))
    assert [row["name"] for row in page.groups.state["tray"]] == ["Lost"]
    page.files.act("save-groups", {"format": "text"})
    assert "Lost" not in page.saved[0][1].decode()
    assert "Lost" in store.view.message  # the page says what the file lacks
    store.change_view(selection=inner)
    assert page.groups.state["canPlace"]
    page.controls["groups"].act("place-group", {"id": store.session.groups[0].id})
    assert rows(page) == [("Lost", 1, len(inner))]


def test_items_move_into_a_group_by_a_draft_with_its_sentence(page, loop):
    store = page.store
    here, *others = clades(store, 4, 12)
    there = next(each for each in others if not set(each) & set(here))
    name(page, here, "Here")
    name(page, there, "There")
    first, second = store.session.groups
    store.change_view(selection=())
    row = page.groups.state["rows"][0]
    assert not row["canMove"]
    moved = tuple(item for item in there[:2])
    store.change_view(selection=moved)
    by_id = {row["id"]: row for row in page.groups.state["rows"]}
    assert by_id[first.id]["canMove"]
    assert not by_id[second.id]["canMove"]  # they are in it
    page.controls["groups"].act("move-items", {"id": first.id, "items": []})
    group, apart = store.view.draft.ready
    assert set(group) == {*here, *moved}
    assert apart == EVERYTHING_ELSE
    before = store.session
    page.gestures.apply()
    loop.until(lambda: store.session.status == "settled")
    assert store.drawn.tree.has_clade((*here, *moved))
    members = {each.name: set(each.members) for each in store.session.groups}
    assert members == {"Here": {*here, *moved}, "There": {*there} - {*moved}}
    assert {row["name"]: row["locked"] for row in page.groups.state["rows"]}["Here"]
    page.controls["bar"].act("undo", {})
    assert store.session.groups == before.groups
    assert store.session.constraints == before.constraints
    page.controls["bar"].act("redo", {})
    page.controls["groups"].act("move-items", {"id": first.id, "items": [here[0]]})
    assert "already in Here" in store.view.message
    assert not store.view.draft.open


def test_the_lock_of_a_group_moves_with_its_items(page, loop):
    store = page.store
    here = clades(store, 4, 12)[0]
    name(page, here, "Here")
    store.dispatch(act.AddConstraint(here, EVERYTHING_ELSE))
    loop.until(lambda: store.session.status == "settled")
    other = next(item for item in range(store.session.n_items) if item not in here)
    page.controls["groups"].act("move-items", {"id": store.session.groups[0].id, "items": [other]})
    page.gestures.apply()
    loop.until(lambda: store.session.status == "settled")
    assert [set(each.group) for each in store.session.enabled] == [{*here, other}]
    assert set(store.session.groups[0].members) == {*here, other}
    # An item that leaves a locked group leaves its lock too.
    there = next(c for c in clades(store, 4, 12) if not {*here, other} & {*c})
    name(page, there, "There")
    page.controls["groups"].act(
        "move-items", {"id": store.session.groups[1].id, "items": [here[0]]}
    )
    page.gestures.apply()
    loop.until(lambda: store.session.status == "settled")
    locks = {frozenset(each.group) for each in store.session.enabled}
    assert locks == {frozenset({*here, other} - {here[0]}), frozenset({*there, here[0]})}


def test_all_groups_are_locked_in_one_step(page, loop):
    store = page.store
    here = clades(store, 4, 12)[0]
    there = next(c for c in clades(store, 4, 12) if not {*here} & {*c})
    name(page, here, "Here")
    name(page, there, "There")
    store.dispatch(act.NameGroup((here[0], there[0]), "Both"))  # contradicts the other two
    assert page.groups.state["unlocked"] == 3
    page.controls["groups"].act("lock-groups", {})
    loop.until(lambda: store.session.status == "settled")
    assert [each.enabled for each in store.session.constraints] == [True, True, False]
    assert store.session.conflict is not None
    assert page.groups.state["unlocked"] == 0
    page.controls["bar"].act("undo", {})
    assert not store.session.constraints
    assert len(store.session.groups) == 3


def test_a_lock_that_contradicts_another_is_drawn_open_again(page):
    store = page.store
    here = clades(store, 4, 12)[0]
    other = next(item for item in range(store.session.n_items) if item not in here)
    store.dispatch(act.AddConstraint(here, EVERYTHING_ELSE))
    page.gestures.select_items((here[0], other))
    for _ in range(2):  # the second time nothing else differs
        shown = page.inspector.state
        box = shown["selection"]["group"]
        page.controls["inspector"].act("lock-group", {"locked": True, "key": box["key"]})
        assert not page.inspector.state["selection"]["group"]["locked"]
        assert page.inspector.state != shown
    assert [each.enabled for each in store.session.constraints] == [True, False]


def test_a_constraint_of_the_list_is_selected_and_in_view(page):
    store = page.store
    a, b, c = page.centre.order[[0, 1, -1]].tolist()
    store.dispatch(act.AddConstraint((a, b), c))
    page.centre.show_rows(40, 50)
    top, bottom = page.centre.window.rows
    CONSTRAINT_ACTS(page.gestures, "show", {"id": 1})
    assert store.view.selection == (a, b, c)
    assert page.centre.window.rows != (top, bottom)


def test_a_row_lists_its_items_in_the_order_of_the_picture(page):
    store = page.store
    here = clades(store, 4, 12)[0]
    name(page, here, "Here")
    (row,) = page.groups.state["rows"]
    assert (row["listed"], row["items"]) == (False, [])
    page.controls["groups"].act("list-items", {"id": row["id"]})
    (row,) = page.groups.state["rows"]
    order = [item for item in store.session.order.tolist() if item in here]
    assert [item["id"] for item in row["items"]] == order
    page.controls["groups"].act("show-item", {"item": order[0]})
    assert store.view.selection == (order[0],)
    page.controls["groups"].act("list-items", {"id": row["id"]})
    assert not page.groups.state["rows"][0]["listed"]


def test_a_row_shows_how_many_sampled_trees_have_its_branch(page, loop):
    store = page.store
    store.dispatch(act.SetMethod("ddt"))
    loop.until(lambda: store.session.status == "settled")
    name(page, clades(store, 5, 40)[0], "Some")
    assert "%" in page.groups.state["rows"][0]["support"]
    store.change_view(support="hidden")
    assert page.groups.state["rows"][0]["support"] == ""


def test_a_group_in_a_collapsed_branch_is_shown_when_it_is_asked_for(page):
    outer, inner = nested(page)
    name(page, inner, "Inner")
    page.centre.toggle_collapse(outer)
    page.controls["groups"].act("show-group", {"id": page.store.session.groups[0].id})
    assert page.centre.state.collapsed == []
    page.centre.toggle_collapse(inner)  # a collapsed group stays so
    page.controls["groups"].act("show-group", {"id": page.store.session.groups[0].id})
    assert len(page.centre.state.collapsed) == 1
    words = inspector_model.state(page.store)["selection"]["words"]
    assert words.startswith(f"Inner: {len(inner)} items selected")


def test_without_a_tree_the_outline_is_nested_by_members(page):
    outer, inner = nested(page)
    name(page, inner, "Inner")
    name(page, outer, "Outer")
    page.store.drawn = None
    state = model.state(page.store)
    assert [(row["name"], row["level"]) for row in state["rows"]] == [("Outer", 1), ("Inner", 2)]
    assert state["tray"] == []


# ---------------------------------------------------------------------- files


def send(page, filename, content):
    text = content.encode() if isinstance(content, str) else content
    page.files.act(
        "upload",
        {
            "id": filename, "kind": "groups", "name": filename, "piece": 0, "pieces": 1,
            "size": len(text), "base64": base64.b64encode(text).decode(),
        },
    )  # fmt: skip


@pytest.mark.parametrize("format", list(FORMATS))
def test_every_format_is_saved_and_read_back_where_it_can_be(page, format):
    outer, inner = nested(page)
    name(page, outer, 'Outer "=1+1"')
    name(page, inner, "Inner")
    page.store.change_view(error=None)
    before = page.store.session.groups
    page.controls["groups"].act("save-groups", {"format": format})
    assert page.store.view.error is None
    ((filename, content),) = page.saved
    assert filename == f"zoo{FORMATS[format].ending}"
    note = page.store.view.message
    free = page.store.session.n_items - len(outer)
    assert f"It has the 2 named groups, and {free} items in no group." in note
    assert ("The marks in braces" in note) == (format == "markdown")
    suffix = "." + filename.rsplit(".", 1)[1]
    if suffix not in READERS:
        assert format in ("html", "phyloxml")
        return
    page.store.dispatch(act.ReplaceGroups(()))
    send(page, filename, content)
    assert page.store.view.error is None
    found = page.store.session.groups
    assert {(g.name, g.members) for g in found} == {(g.name, g.members) for g in before}
    assert page.store.session.message.startswith("2 groups from ")
    page.store.dispatch(act.Undo(), act.Undo())
    assert page.store.session.groups == before


def read_groups(content, name, labels):
    file = read_groups_file(content, name, labels)
    return file.groups, groups_note(file)


def test_a_file_about_other_items_names_and_counts_them():
    text = kitchen().to_json()
    labels = kitchen().labels
    groups, message = read_groups(text.encode(), "k.json", (*labels, "anvil", "vice"))
    assert sorted(g.id for g in groups) == sorted(g.id for g in kitchen().groups)
    assert message.endswith("2 items are not in the file: anvil, vice.")
    dropped = labels[kitchen().groups[0].members[0]]
    here = tuple(label for label in labels if label != dropped)
    groups, message = read_groups(text.encode(), "k.json", here)
    assert f"1 item is not among the items shown: {dropped}." in message
    assert all(max(group.members) < len(here) for group in groups)
    with pytest.raises(InvalidTaxonomy, match="None of the"):
        read_groups(text.encode(), "k.json", ("a", "b"))
    with pytest.raises(InvalidTaxonomy, match="not a file of groups"):
        read_groups(b"x", "k.docx", labels)
    with pytest.raises(InvalidTaxonomy, match=r"k\.json: "):
        read_groups(b"{", "k.json", labels)
    with pytest.raises(InvalidTaxonomy, match="not UTF-8"):
        read_groups(b"\xff\xfe\xff", "k.json", labels)


def test_groups_that_become_equal_are_left_out_with_a_note():
    tree = Tree.from_children([[0, 1], [3, 2]], 3)
    found = Taxonomy(["a", "b", "c"], tree, [Group("All", [0, 1, 2]), Group("Two", [0, 1])])
    groups, message = read_groups(found.to_json().encode(), "x.json", ["a", "b", "z"])
    assert [(g.name, g.members) for g in groups] == [("All", (0, 1))]
    assert "1 group has no items of their own here and was left out: Two." in message


def test_a_refused_file_changes_nothing(page):
    name(page, nested(page)[0], "Kept")
    before = page.store.session
    send(page, "other.md", "- **A**\n  - nothing\n  - of the zoo\n")
    assert "None of the 2 items" in page.store.view.error[0]
    assert page.store.session is before
    send(page, "groups.json", json.dumps({"name": 1}))
    assert page.store.session is before


def test_an_unfinished_session_with_names_alone_is_kept_and_offered(page):
    about = SessionSummary("Zoo", 0, "now", groups=2)
    assert autosave_model.worth_offering(UnfinishedSession("x", about))
    assert not autosave_model.worth_offering(UnfinishedSession("x", SessionSummary("Zoo")))
    assert autosave_model.content_count(0, 2) == "2 groups"
    assert autosave_model.content_count(1, 1) == "1 answer and 1 group"
    assert autosave_model.content_count(2, 0) == "2 answers"
    assert not autosave_model.worth_keeping(page.store.session)
    name(page, nested(page)[0], "Kept")
    assert autosave_model.worth_keeping(page.store.session)


def test_without_groups_saving_is_disabled(page):
    page.controls["groups"].act("save-groups", {"format": "markdown"})
    assert "No group has a name yet" in page.store.view.error[0]
