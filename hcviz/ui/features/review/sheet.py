"""The sheet Review: the groups beside those of a second version, to take over one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hcviz.core.text import count_noun, join_names
from hcviz.session import actions as act
from hcviz.session.second_version import SecondVersion
from hcviz.taxonomy import Group, GroupDifference
from hcviz.taxonomy.nesting import parents_of
from hcviz.ui.features.review.opening import REVIEW, begin_review, use_groups
from hcviz.ui.features.tanglegram.versions import SECOND_VERSION
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.messages import Acts
from hcviz.ui.parts.sheet import Sheet, sheet_part
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Names in a cell and in its tooltip, at most.
MAX_NAMES, MAX_NAMES_IN_TOOLTIP = 3, 30
#: Items that are listed as moved, at most.
MAX_MOVED = 200


def state(store: Store) -> dict[str, Any]:
    """Return the question about other items, or the table of groups, as plain JSON."""
    offered, version = store.view.offered_version, store.session.second_version
    if offered is not None:
        return {
            "offer": {
                "name": offered.name,
                "common": count_noun(len(offered.items), "common item"),
                "unknown": _names(offered.unknown, MAX_NAMES_IN_TOOLTIP),
                "unknownCount": len(offered.unknown),
                "missing": _names(offered.missing, MAX_NAMES_IN_TOOLTIP),
                "missingCount": len(offered.missing),
                "replaces": offered.replaces,
                "mine": len(store.session.groups),
            }
        }
    if version is None:
        return {}
    labels = store.session.labels
    found = version.differences(labels)
    left = version.undecided(labels)
    return {
        "name": version.name,
        "rows": [_row(version, found.groups, k, left) for k in _order(version, found.groups)],
        "left": len(left),
        "counts": [[status, count] for status, count in found.counts.items() if count],
        "moved": [
            [each.item, _name(each.origin), _name(each.target)] for each in found.moved[:MAX_MOVED]
        ],
        "movedCount": len(found.moved),
        "lacking": len(labels) - len(version.items),
    }


def _row(
    version: SecondVersion, rows: Sequence[GroupDifference], k: int, left: Sequence[int]
) -> dict[str, Any]:
    row = rows[k]
    decided = "taken" if k in version.taken else "kept" if k in version.kept else ""
    return {
        "row": k,
        "status": row.status,
        "first": _side(version.mine, row.first),
        "second": _side(version.theirs, row.second),
        "items": _change(row, MAX_NAMES),
        "title": _change(row, MAX_NAMES_IN_TOOLTIP),
        "note": "" if row.second is None or row.is_same else row.second.note,
        "same": row.is_same,
        "open": k in left,
        "decided": decided,
    }


def _side(groups: Sequence[Group], group: Group | None) -> dict[str, Any] | None:
    """Return name, size and level of a group in its outline."""
    if group is None:
        return None
    parents, at, level = parents_of(groups), groups.index(group), 0
    while (above := parents[at]) is not None:
        at, level = above, level + 1
    return {"name": group.name, "count": len(group.members), "level": level}


def _order(version: SecondVersion, rows: Sequence[GroupDifference]) -> list[int]:
    """Return the rows in the order of the outline, new groups at the end, each group after the one
    that contains it."""
    mine = {group.id: k for k, group in enumerate(_outline(version.mine))}
    theirs = {group.id: k for k, group in enumerate(_outline(version.theirs))}

    def rank(k: int) -> tuple[bool, int]:
        first, second = rows[k].first, rows[k].second
        if first is not None:
            return False, mine[first.id]
        assert second is not None
        return True, theirs[second.id]

    return sorted(range(len(rows)), key=rank)


def _outline(groups: Sequence[Group]) -> list[Group]:
    """Return the groups, each before the groups in it."""
    parents = parents_of(groups)
    inside: dict[int | None, list[int]] = {}
    for k, parent in enumerate(parents):
        inside.setdefault(parent, []).append(k)
    found: list[Group] = []
    waiting = inside.get(None, [])[::-1]
    while waiting:
        k = waiting.pop()
        found.append(groups[k])
        waiting += inside.get(k, [])[::-1]
    return found


def _change(row: GroupDifference, most: int) -> str:
    if row.status == "split":
        return f"into {_names([group.name for group in row.into], most)}"
    if row.status == "merged":
        return f"from {_names([group.name for group in row.sources], most)}"
    if row.status in ("new", "gone"):
        return _names(row.gained or row.lost, most)
    parts = [
        f"{sign}{len(items):,} {_names(items, most)}"
        for sign, items in (("+", row.gained), ("−", row.lost))
        if items
    ]
    if not parts and not row.is_same and row.status == "kept":
        return "another note or other names"
    return ", ".join(parts)


def _names(names: Sequence[str], most: int) -> str:
    return join_names(names, most)


def _name(group: Group | None) -> str:
    return "" if group is None else group.name


def _depends_on(store: Store) -> Any:
    session = store.session
    return session.second_version, store.view.offered_version, session.labels, session.groups


def _has_tab(store: Store) -> bool:
    return store.session.second_version is not None or store.view.offered_version is not None


def _unavailable_because(store: Store) -> str:
    return "" if _has_tab(store) else "No second version is open."


@ACTS.on("take-over")
def _take_over(actions: Actions, row: int) -> None:
    actions.store.dispatch(act.TakeOver((row,)))


@ACTS.on("keep-mine")
def _keep_mine(actions: Actions, row: int) -> None:
    actions.store.dispatch(act.KeepMine((row,)))


@ACTS.on("take-rest")
def _take_rest(actions: Actions) -> None:
    session = actions.store.session
    if session.second_version is not None:
        actions.store.dispatch(act.TakeOver(session.second_version.undecided(session.labels)))


@ACTS.on("close-review")
def _close(actions: Actions) -> None:
    store = actions.store
    if store.view.offered_version is not None:
        store.change_view(offered_version=None)
    else:
        store.dispatch(act.CloseSecondVersion())


@ACTS.on("side-by-side")
def _side_by_side(actions: Actions) -> None:
    actions.store.change_view(compared=SECOND_VERSION, sheet="before")


@ACTS.on("use-common-items")
def _use_common(actions: Actions) -> None:
    file = actions.store.view.offered_version
    if file is not None:
        begin_review(actions.store, file)


@ACTS.on("use-groups")
def _use_groups(actions: Actions) -> None:
    file = actions.store.view.offered_version
    if file is not None and file.replaces:
        with actions.store.guarded():
            use_groups(actions.store, file)


@ACTS.on("show-row")
def _show(actions: Actions, row: int, mine: bool) -> None:
    """Select the items of a row's group in the tree: of one's own group, or of the file's."""
    session = actions.store.session
    if session.second_version is None:
        return
    rows = session.second_version.differences(session.labels).groups
    if not 0 <= row < len(rows):
        return
    group = rows[row].first if mine else rows[row].second
    if group is not None:
        actions.select_items(group.members)
        actions.store.change_view(sheet="tree")


SHEET = Sheet(
    name=REVIEW,
    title="Review",
    summary="Your groups beside those of a second version",
    make=sheet_part(__file__),
    state=state,
    depends_on=_depends_on,
    unavailable_because=_unavailable_because,
    has_tab=_has_tab,
    acts=ACTS,
)
