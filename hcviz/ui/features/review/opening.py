"""Open the file of a second version of the groups."""

from __future__ import annotations

from hcviz.session import actions as act
from hcviz.ui.features.groups.taxonomy_files import GroupsFile, read_groups_file
from hcviz.ui.state.store import Store

#: Key of the sheet.
REVIEW = "review"


def open_version(store: Store, name: str, content: bytes) -> None:
    """Read a second version and begin its review.

    If it is about partly other items, the sheet shows these first, and asks whether to go on.
    """
    file = read_groups_file(content, name, store.session.labels)
    if file.unknown or file.missing:
        store.change_view(offered_version=file, sheet=REVIEW, error=None)
    else:
        begin_review(store, file)


def begin_review(store: Store, file: GroupsFile) -> None:
    """Begin the review of a file with the common items."""
    store.change_view(offered_version=None)
    store.dispatch(act.OpenSecondVersion(file.name, file.groups, file.items))
    store.change_view(sheet=REVIEW)


__all__ = ["REVIEW", "begin_review", "open_version"]
