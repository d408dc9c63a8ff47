"""Open a file of groups: to replace the groups of the page, or to review a second version."""

from __future__ import annotations

from dataclasses import replace

from hcviz.session import actions as act
from hcviz.ui.features.groups.taxonomy_files import GroupsFile, groups_note
from hcviz.ui.state.store import Store

#: Key of the sheet.
REVIEW = "review"


def open_groups(store: Store, file: GroupsFile) -> None:
    """Replace the groups of the page by those of a file.

    If they are about partly other items, the sheet shows these first, and asks whether to go on.
    """
    file = replace(file, replaces=True)
    if file.unknown or file.missing:
        store.change_view(offered_version=file, sheet=REVIEW, error=None)
    else:
        use_groups(store, file)


def use_groups(store: Store, file: GroupsFile) -> None:
    """Replace the groups of the page by those of a file."""
    if store.view.offered_version is not None:
        store.change_view(offered_version=None, sheet="tree")
    store.dispatch(act.ReplaceGroups(file.groups, groups_note(file)))


def open_version(store: Store, file: GroupsFile) -> None:
    """Begin the review of a second version.

    If it is about partly other items, the sheet shows these first, and asks whether to go on.
    """
    if file.unknown or file.missing:
        store.change_view(offered_version=file, sheet=REVIEW, error=None)
    else:
        begin_review(store, file)


def begin_review(store: Store, file: GroupsFile) -> None:
    """Begin the review of a file with the common items."""
    store.change_view(offered_version=None)
    store.dispatch(act.OpenSecondVersion(file.name, file.groups, file.items))
    store.change_view(sheet=REVIEW)


__all__ = ["REVIEW", "begin_review", "open_groups", "open_version", "use_groups"]
