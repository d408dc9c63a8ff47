"""The rules of card sorts: merged names of piles, and participants who are switched off."""

from __future__ import annotations

from dataclasses import replace

from hcviz.core.errors import InvalidData
from hcviz.core.piles import name_key
from hcviz.session.actions import EnableParticipant, MergePileNames, SplitPileName, read_only
from hcviz.session.effects import ReloadData
from hcviz.session.history import UpdateResult, add_undo_step
from hcviz.session.model import Session
from hcviz.session.runs import announce, no_change, request_run

#: The name of a pile has at most this many characters.
MAX_NAME_LENGTH = 200


def merge(session: Session, action: MergePileNames) -> UpdateResult:
    """Let several names of piles count as one. The piles stay as they are."""
    name = " ".join(action.name.split())
    if not name or len(name) > MAX_NAME_LENGTH:
        raise InvalidData(
            f"The name of a pile has 1 to {MAX_NAME_LENGTH} characters, not {len(name)}.",
            "Write the name that the merged piles share.",
        )
    keys = {name_key(each) for each in action.names}
    if not keys:
        raise InvalidData("No name is selected.", "Select the names that mean the same.")
    known = dict(session.pile_names)
    found = {**known, **dict.fromkeys(sorted(keys), name)}
    for written, target in known.items():
        if name_key(target) in keys | {name_key(name)}:
            found[written] = name
    if found == known:
        return no_change(session)
    text = f"Merged: {len(keys)} names of piles are “{name}” now."
    if len(keys) == 1:
        text = f"Renamed: a name of piles is “{name}” now."
    return _store(session, found, text)


def split(session: Session, action: SplitPileName) -> UpdateResult:
    """Separate the names that were merged into one."""
    gone = name_key(action.name)
    found = {
        written: target
        for written, target in session.pile_names.items()
        if name_key(target) != gone
    }
    if len(found) == len(session.pile_names):
        return no_change(session)
    return _store(session, found, f"Split: “{' '.join(action.name.split())}” has its names again.")


def _store(session: Session, names: dict[str, str], text: str) -> UpdateResult:
    step = add_undo_step(session, text.rstrip("."))
    return announce(replace(step, pile_names=read_only(names)), text)


def enable_participant(session: Session, action: EnableParticipant) -> UpdateResult:
    """Switch the piles of a participant on or off. The similarity is computed again."""
    before = session.data.left_out
    if (action.participant not in before) == action.on:
        return no_change(session)
    after = tuple(each for each in before if each != action.participant)
    if not action.on:
        after = (*after, action.participant)
    text = f"{action.participant}: switched {'on' if action.on else 'off'}."
    spec = replace(session.data, left_out=after)
    step = add_undo_step(session, text.rstrip("."))
    session, effects = request_run(replace(step, data=spec), text, "tree")
    return session, (ReloadData(spec), *effects)


__all__ = ["enable_participant", "merge", "split"]
