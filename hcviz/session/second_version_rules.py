"""The rules of a review: open a second version, take over its groups one by one, and close it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hcviz.core.text import count_noun, join_names
from hcviz.session.actions import (
    CloseSecondVersion,
    KeepMine,
    OpenSecondVersion,
    TakeOver,
)
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.model import Session
from hcviz.session.runs import announce
from hcviz.session.second_version import SecondVersion
from hcviz.taxonomy import Group, GroupDifference
from hcviz.taxonomy.nesting import check_groups, parents_of

CLOSED = "The review is closed. Open the second version again."

#: Names of groups in a sentence, at most.
MAX_NAMES = 3


def open_version(session: Session, action: OpenSecondVersion) -> UpdateResult:
    """Begin a review. An earlier one is closed."""
    version = SecondVersion(action.name, session.groups, action.groups, action.items)
    version.check(session.n_items)
    count = len(version.undecided(session.labels))
    text = f"Review of {action.name}: {count_noun(count, 'group')} to decide."
    return _store(session, version, f"Opened for review: {action.name}", text)


def take_over(session: Session, action: TakeOver) -> UpdateResult:
    """Let groups have name, items and note of the second version, or remove them.

    The parts of a group that was split are taken over with it, and so are merged groups. A removed
    group keeps the items that the file lacks, if it has two or more of them.
    """
    version = session.second_version
    if version is None:
        return announce(session, CLOSED)
    rows = version.differences(session.labels).groups
    different = [k for k in _with_parts(rows, action.rows) if not rows[k].is_same]
    if not different:
        return announce(session, "These groups are the same in both versions.")
    chosen = [k for k in different if k not in version.taken]
    if not chosen:
        return announce(session, "These groups are taken over already.")
    present = frozenset(version.items)
    removed = {row.first.id for k in chosen if (row := rows[k]).first and not row.second}
    groups = _without(session.groups, removed, present)
    for k in chosen:
        if rows[k].second is not None:
            groups = _taken(groups, rows[k], present)
    groups = _with_distinct_rests(groups, removed)
    check_groups(groups, session.n_items)
    decided = replace(
        version,
        taken=tuple(sorted({*version.taken, *chosen})),
        kept=tuple(k for k in version.kept if k not in chosen),
    )
    text = f"Taken over: {_names(rows, chosen)}"
    return _store(session, decided, text, _with_rest(session, decided, text), groups)


def keep_mine(session: Session, action: KeepMine) -> UpdateResult:
    """Mark rows as decided; the groups stay as they are."""
    version = session.second_version
    if version is None:
        return announce(session, CLOSED)
    rows = version.differences(session.labels).groups
    chosen = [k for k in action.rows if 0 <= k < len(rows) and k not in version.taken]
    if not chosen:
        return announce(session, "These groups are decided already.")
    decided = replace(version, kept=tuple(sorted({*version.kept, *chosen})))
    text = f"Kept as they are: {_names(rows, chosen)}"
    return _store(session, decided, text, _with_rest(session, decided, text))


def close(session: Session, action: CloseSecondVersion) -> UpdateResult:
    """End the review."""
    version = session.second_version
    if version is None:
        return announce(session, CLOSED)
    text = f"Review of {version.name} closed"
    return _store(session, None, text, f"{text}.")


def _with_parts(rows: tuple[GroupDifference, ...], chosen: tuple[int, ...]) -> list[int]:
    """Return the chosen rows and those of the groups that they were split into or merged from."""
    found = {k for k in chosen if 0 <= k < len(rows)}
    parts = {group.id for k in found for group in rows[k].into}
    sources = {group.id for k in found for group in rows[k].sources}
    found |= {
        k
        for k, row in enumerate(rows)
        if (row.second is not None and row.second.id in parts)
        or (row.first is not None and row.first.id in sources)
    }
    return sorted(found)


def _without(
    groups: Sequence[Group], removed: Collection[str], present: frozenset[int]
) -> list[Group]:
    """Return the groups; those with the ids ``removed`` keep only items that the file lacks."""
    found = []
    for group in groups:
        rest = [item for item in group.members if item not in present]
        if group.id not in removed:
            found.append(group)
        elif len(rest) > 1:
            found.append(replace(group, members=tuple(rest)))
    return found


def _with_distinct_rests(groups: list[Group], rests: Collection[str]) -> list[Group]:
    """Remove rests of groups with the same items as another group; number names in use."""
    own = {group.members for group in groups if group.id not in rests}
    found = list[Group]()
    for group in groups:
        if group.id not in rests:
            found.append(group)
        elif group.members not in own:
            own.add(group.members)
            found.append(group)
    parents = parents_of(found)
    used = {(parent, g.name) for parent, g in zip(parents, found, strict=True) if g.id not in rests}
    for at, (group, parent) in enumerate(zip(found, parents, strict=True)):
        if group.id in rests:
            name, number = group.name, 2
            while (parent, name) in used:
                name, number = f"{group.name} {number}", number + 1
            used.add((parent, name))
            found[at] = replace(group, name=name)
    return found


def _taken(groups: list[Group], row: GroupDifference, present: frozenset[int]) -> list[Group]:
    """Return the groups with that of the second version; items that it lacks stay."""
    assert row.second is not None
    theirs = row.second
    for at, group in enumerate(groups):
        if row.first is not None and group.id == row.first.id:
            others = [item for item in group.members if item not in present]
            groups[at] = replace(
                group,
                name=theirs.name,
                members=(*theirs.members, *others),
                note=theirs.note,
                alternatives=theirs.alternatives,
            )
            return groups
    used = {group.id for group in groups}
    name, number = theirs.id, 2
    while name in used:
        name, number = f"{theirs.id}-{number}", number + 1
    return [*groups, replace(theirs, id=name)]


def _names(rows: tuple[GroupDifference, ...], chosen: list[int]) -> str:
    groups = [rows[k].first or rows[k].second for k in chosen]
    return join_names([g.name for g in groups[:MAX_NAMES] if g is not None], MAX_NAMES, len(chosen))


def _with_rest(session: Session, version: SecondVersion, text: str) -> str:
    left = len(version.undecided(session.labels))
    return f"{text}. {left:,} left to decide." if left else f"{text}. All groups are decided."


def _store(
    session: Session,
    version: SecondVersion | None,
    step: str,
    text: str,
    groups: list[Group] | None = None,
) -> UpdateResult:
    after = replace(add_undo_step(session, step), second_version=version)
    if groups is not None:
        after = replace(after, groups=tuple(groups))
    return announce(after, text)


__all__ = ["close", "keep_mine", "open_version", "take_over"]
