"""Open a file of groups: to replace the groups of the page, or to review a second version."""

from __future__ import annotations

from dataclasses import replace

from hcviz.session import actions as act
from hcviz.ui.features.groups.taxonomy_files import GroupsFile, groups_note, read_groups_file
from hcviz.ui.state.store import Store

#: Key of the sheet.
REVIEW = "review"


def open_groups(store: Store, name: str, content: bytes) -> None:
    """Read groups that replace those of the page.

    If they are about partly other items, the sheet shows these first, and asks whether to go on.
    """
    file = replace(read_groups_file(content, name, store.session.labels), replaces=True)
    if file.unknown or file.missing:
        store.look(offered_version=file, sheet=REVIEW, error=None)
    else:
        use_groups(store, file)


def use_groups(store: Store, file: GroupsFile) -> None:
    """Replace the groups of the page by those of a file."""
    if store.view.offered_version is not None:
        store.look(offered_version=None, sheet="tree")
    store.dispatch(act.ReplaceGroups(file.groups, groups_note(file)))


def open_version(store: Store, name: str, content: bytes) -> None:
    """Read a second version and begin its review.

    If it is about partly other items, the sheet shows these first, and asks whether to go on.
    """
    file = read_groups_file(content, name, store.session.labels)
    if file.unknown or file.missing:
        store.look(offered_version=file, sheet=REVIEW, error=None)
    else:
        begin_review(store, file)


def begin_review(store: Store, file: GroupsFile) -> None:
    """Begin the review of a file with the common items."""
    store.look(offered_version=None)
    store.dispatch(act.OpenSecondVersion(file.name, file.groups, file.items))
    store.look(sheet=REVIEW)


__all__ = ["REVIEW", "begin_review", "open_groups", "open_version", "use_groups"]
