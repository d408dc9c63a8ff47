"""The review sheet without a browser: the file, the table, the decisions."""

from __future__ import annotations

import base64

import pytest

from hcviz import Group
from hcviz.session import actions as act
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.link import Link
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.features.review import sheet
from hcviz.ui.features.tanglegram import sheet as tanglegram

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture
def page(loop):
    explorer = Explorer(loop.schedule, link=Link(method="average"))
    loop.until(lambda: explorer.store.session.status == "settled")
    explorer.store.dispatch(
        act.ReplaceGroups((Group("One", (0, 1, 2, 3), id="1"), Group("Two", (4, 5), id="2")))
    )
    yield explorer
    explorer.close()


def upload(page, text, name="second.txt", kind="second version"):
    page.files.act(
        "upload",
        {"id": name + text[:9], "kind": kind, "name": name, "size": len(text),
         "piece": 0, "pieces": 1, "base64": base64.b64encode(text.encode()).decode()},
    )  # fmt: skip


def outline(page, *groups, extra=(), without=()):
    """Indented text with all items of the page."""
    labels = page.store.session.labels
    lines, inside = [], set(without)
    for name, items in groups:
        lines += [name, *(f"  {labels[item]}" for item in items)]
        inside |= set(items)
    lines += [label for k, label in enumerate(labels) if k not in inside]
    return "\n".join([*lines, *extra]) + "\n"


def send(page, name, **fields):
    sheet.SHEET.acts(page.gestures, name, fields)


def table(page):
    return {
        (row["first"] and row["first"]["name"], row["second"] and row["second"]["name"]): row
        for row in sheet.state(page.store)["rows"]
    }


def test_a_file_opens_the_review_and_its_groups_are_taken_over(page):
    assert sheet.state(page.store) == {}
    assert not sheet.SHEET.has_tab(page.store)
    upload(page, outline(page, (HOSTILE, (0, 1, 2)), ("Three", (6, 7))))
    assert Middle.now(page.store) == "review"
    shown = sheet.state(page.store)
    assert (shown["left"], shown["movedCount"], shown["name"]) == (3, 1, "second.txt")
    row = table(page)["One", HOSTILE]
    assert (row["status"], row["second"]["count"]) == ("changed", 3)
    assert row["items"].startswith("−1 ")
    send(page, "take-over", row=row["row"])
    assert [group.name for group in page.store.session.groups] == [HOSTILE, "Two"]
    assert table(page)["One", HOSTILE]["decided"] == "taken"
    send(page, "keep-mine", row=table(page)["Two", None]["row"])
    assert sheet.state(page.store)["left"] == 1
    send(page, "take-rest")
    assert [group.name for group in page.store.session.groups] == [HOSTILE, "Two", "Three"]
    assert sheet.state(page.store)["left"] == 0
    send(page, "close-review")
    assert Middle.now(page.store) == "tree"
    page.store.dispatch(*[act.Undo()] * 5)
    assert [group.name for group in page.store.session.groups] == ["One", "Two"]


def test_a_file_about_partly_other_items_asks_first(page):
    text = outline(page, ("One", (0, 1, 2)), extra=("unicorn", HOSTILE), without=(3, 4))
    upload(page, text)
    assert page.store.session.second_version is None
    offer = sheet.state(page.store)["offer"]
    labels = page.store.session.labels
    assert offer["missing"] == f"{labels[3]}, {labels[4]}"
    assert (offer["unknownCount"], offer["common"]) == (2, "99 common items")
    assert Middle.now(page.store) == "review"
    send(page, "close-review")
    assert (Middle.now(page.store), page.store.session.second_version) == ("tree", None)
    upload(page, text)
    send(page, "use-common-items")
    assert sheet.state(page.store)["lacking"] == 2
    assert table(page)["One", "One"]["status"] == "kept"
    assert [group.name for group in page.store.session.groups] == ["One", "Two"]


def test_both_versions_are_drawn_side_by_side(page):
    assert tanglegram.SHEET.unavailable_because(page.store) != ""
    text = outline(page, ("One", (0, 1, 2)), (HOSTILE, (3, 4, 5)), ("Outer", (6, 7)))
    upload(page, text)
    send(page, "side-by-side")
    assert Middle.now(page.store) == "before"
    drawn = tanglegram.state(page.store)
    assert drawn["heads"] == ["Your groups", "second.txt"]
    assert drawn["legend"] == ["in another group", "group in one version only"]
    assert drawn["chosen"] == "second version"
    assert {drawn["items"][k] for k in drawn["moved"]} == {3}  # from One to the hostile one
    assert (
        drawn["sentence"] == "1 item in another group; 2 groups only in yours, 3 only in the file."
    )

    def groups(side, order):
        """The names with the items at their rows."""
        return {
            name: {order[row] for row in range(first, last)}
            for _, first, last, name in drawn[side]["groups"]
        }

    left = drawn["items"]
    right = [item for _, item in sorted(zip(drawn["to"], left, strict=True))]
    assert groups("left", left) == {"One": {0, 1, 2, 3}, "Two": {4, 5}}
    assert groups("right", right) == {"One": {0, 1, 2}, HOSTILE: {3, 4, 5}, "Outer": {6, 7}}
    send(page, "take-over", row=0)
    drawn = tanglegram.state(page.store)
    assert "One" in {each[3] for each in drawn["left"]["groups"]}
    send(page, "close-review")
    assert tanglegram.state(page.store) == {}


def test_a_file_without_some_items_is_drawn_by_the_common_ones(page):
    upload(page, outline(page, ("New", (1, 2)), without=(0, 5)))
    send(page, "use-common-items")
    send(page, "side-by-side")
    drawn = tanglegram.state(page.store)
    counts = [{name: last - first for _, first, last, name in drawn[side]["groups"]}
              for side in ("left", "right")]  # fmt: skip
    assert counts == [{"One": 3}, {"New": 2}]


def test_groups_of_a_file_about_partly_other_items_ask_before_they_replace(page):
    text = outline(page, ("New", (0, 1, 2)), extra=("unicorn",), without=(3, 4))
    before = page.store.session.groups

    def open_groups():
        upload(page, text, "new.txt", "groups")
        offer = sheet.state(page.store)["offer"]
        assert (offer["replaces"], offer["mine"], offer["unknown"]) == (True, 2, "unicorn")
        assert page.store.session.groups == before

    open_groups()
    send(page, "close-review")
    assert (Middle.now(page.store), page.store.session.groups) == ("tree", before)
    open_groups()
    send(page, "use-groups")
    assert [(each.name, each.members) for each in page.store.session.groups] == [("New", (0, 1, 2))]
    assert "1 item is not among the items shown: unicorn." in page.store.session.message
    assert (Middle.now(page.store), page.store.view.offered_version) == ("tree", None)
    page.store.dispatch(act.Undo())
    open_groups()
    send(page, "use-common-items")
    assert page.store.session.second_version.name == "new.txt"
    assert page.store.session.groups == before


def test_a_file_about_other_items_or_of_another_kind_is_refused(page):
    upload(page, "A\n  x\n  y\nz\n")
    assert "None of the 3 items" in page.store.view.error[0]
    upload(page, "A", "second.png")
    assert "not a file of groups" in page.store.view.error[0]
    assert page.store.session.second_version is None


def test_rows_are_an_outline_and_show_their_items_in_the_tree(page):
    upload(page, outline(page, ("Outer", (0, 1, 2, 3, 6, 7)), ("Two", (4, 5))))
    page.store.dispatch(act.NameGroup((0, 1), "Inner"))
    send(page, "close-review")
    upload(page, outline(page, ("Two", (4, 5))))
    rows = sheet.state(page.store)["rows"]
    assert [(row["first"]["name"], row["first"]["level"]) for row in rows] == [
        ("One", 0), ("Inner", 1), ("Two", 0),
    ]  # fmt: skip
    send(page, "show-row", row=rows[0]["row"], mine=True)
    assert set(page.store.view.selection) == {0, 1, 2, 3}
    assert Middle.now(page.store) == "tree"
    send(page, "show-row", row=99, mine=True)
    send(page, "show-row", row=rows[0]["row"], mine=False)  # the file has no such group
    assert page.store.view.error is None
    assert set(page.store.view.selection) == {0, 1, 2, 3}


def test_each_side_of_a_row_shows_its_own_items(page):
    upload(page, outline(page, ("One", (0, 1, 2, 9)), ("Two", (4, 5))))
    row = table(page)["One", "One"]["row"]
    send(page, "show-row", row=row, mine=True)
    assert set(page.store.view.selection) == {0, 1, 2, 3}
    send(page, "show-row", row=row, mine=False)
    assert set(page.store.view.selection) == {0, 1, 2, 9}
