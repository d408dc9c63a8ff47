"""Request runs, and apply the runner's reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.session.actions import (
    AddComparisons,
    Arrived,
    Cancel,
    Failed,
    Finished,
    LoadedData,
    Rerun,
    RerunInterrupted,
    SetMethod,
    SetParams,
    SetSeed,
    Stopped,
    read_only,
)
from hcviz.session.conflicts import disable_contradictions
from hcviz.session.effects import Announce, CancelRun, StartRun
from hcviz.session.history import UpdateResult, add_undo_step, remember, rename_last_step
from hcviz.session.methods import Methods
from hcviz.session.model import Session, WarmStart

_ORDER: tuple[WarmStart, ...] = ("nothing", "tree", "snapshot")

#: Maximal number of characters of a parameter's value in the name of a step.
LONGEST_VALUE = 60

IGNORED_TEXT = "This method ignores constraints: the tree does not follow them."


def announce(session: Session, text: str) -> UpdateResult:
    """Return the session with this message, and the effect that announces it."""
    return replace(session, message=text), (Announce(text),)


def no_change(session: Session) -> UpdateResult:
    """Return the session without effects."""
    return session, ()


def request_run(
    session: Session,
    cause: str,
    start: WarmStart,
    text: str | None = None,
    keeps_tree: bool = False,
) -> UpdateResult:
    """Request the next run: return a session that waits for it, and the effect ``StartRun``.

    The run in progress is cancelled. The shown tree goes to the history.

    ``start`` is the most that the run may reuse. ``text`` is announced (``cause`` by default). With
    ``keeps_tree``, the shown tree stays during the run. Without data, there is only an
    announcement.
    """
    if not session.n_items:
        return announce(session, "There is nothing to run yet: choose data first.")
    session, effects = announce(session, text or cause)
    before = session.past[-1] if session.past else session
    session = remember(session, before)
    snapshot = session.snapshot
    start = min(start, session.warm_start, key=_ORDER.index)
    origin: Snapshot | Tree | None = None
    fits = snapshot is not None and snapshot.tree.n_leaves == session.n_items
    if snapshot is not None and fits and start != "nothing":
        origin = snapshot if start == "snapshot" else snapshot.tree
    run = session.run + 1
    session = replace(
        session,
        run=run,
        lineage=run,
        warm_start=start,
        status="sampling",
        progress=(0, 0),
        cause=cause,
        error=None,
        rerun_pending=False,
        keeps_tree=keeps_tree,
        reference=session.order if fits else session.reference,
    )
    go = StartRun(
        run, session.method, session.params, session.seed, session.triplets, origin,
        session.comparisons, session.required_clades, session.avoided_clades,
    )  # fmt: skip
    return session, (*effects, go)


def is_live(session: Session, run: int) -> bool:
    """Return True if reports of this run are still used."""
    return session.status == "sampling" and run == session.run == session.lineage


# ---------------------------------------------------------------------- reports of the runner


def arrived(session: Session, action: Arrived) -> UpdateResult:
    if not is_live(session, action.run):
        return no_change(session)
    snapshot = action.snapshot
    before = session.snapshot
    if session.keeps_tree and before is not None:  # all but the tree comes from the new draw
        snapshot = replace(snapshot, tree=before.tree, labels=before.labels)
    progress = (int(snapshot.step), int(snapshot.total))
    session = replace(session, snapshot=snapshot, shown=action.run, progress=progress)
    return replace(session, warm_start="snapshot"), ()


def finished(session: Session, action: Finished) -> UpdateResult:
    if not is_live(session, action.run):
        return no_change(session)
    session = replace(remember(session, session), status="settled")
    if session.rerun_pending:
        return request_run(session, "Answers that arrived during the run.", "snapshot")
    return announce(session, f"{_data_note(session)} {finished_sentence(session)}".strip())


def _data_note(session: Session) -> str:
    """Return the note about data that were loaded just before this run, or an empty text."""
    last = session.log[-1].action if session.log else None
    return last.note if isinstance(last, (AddComparisons, LoadedData)) else ""


def finished_sentence(session: Session) -> str:
    """Return what is announced when a run has finished."""
    count = len(session.enabled)
    if session.constraint_mode == "ignored" and count:
        return f"Done. {IGNORED_TEXT}"
    if not count or session.tree is None:
        return "Done."
    broken = sum(not each.holds_in(session.tree) for each in session.enabled)
    if broken:
        verb = "does" if broken == 1 else "do"
        return f"Done. {broken} of {count} constraints {verb} not hold in this tree."
    return "Done. The constraint holds." if count == 1 else f"Done. All {count} constraints hold."


def failed(session: Session, action: Failed) -> UpdateResult:
    if not is_live(session, action.run):
        return no_change(session)
    error = (action.message, action.hint)
    session = replace(session, rerun_pending=False)
    return announce(
        replace(session, status="failed", error=error), f"{action.message} {action.hint}"
    )


def stopped(session: Session, action: Stopped) -> UpdateResult:
    if not is_live(session, action.run):
        return no_change(session)
    session = replace(session, rerun_pending=False)
    return announce(replace(session, status="cancelled"), "Stopped. The last tree stays.")


# ---------------------------------------------------------------------- actions of the person


def cancel(session: Session, action: Cancel) -> UpdateResult:
    if session.status != "sampling":
        return no_change(session)
    run = session.run
    session, effects = announce(
        replace(session, status="cancelled", rerun_pending=False),
        "Stopped. The last tree stays.",
    )
    return session, (CancelRun(run), *effects)


def rerun(session: Session, action: Rerun) -> UpdateResult:
    where: WarmStart = "nothing" if action.fresh else "snapshot"
    text = "Running from the start." if action.fresh else "Continuing the run."
    return request_run(add_undo_step(session, "Run"), text, where)


def rerun_interrupted(session: Session, action: RerunInterrupted) -> UpdateResult:
    return request_run(session, session.cause, "snapshot", "Running again what was interrupted.")


def set_method(session: Session, action: SetMethod, methods: Methods) -> UpdateResult:
    """Switch the method. The constraints stay, and the new method starts at the shown tree."""
    if action.name == session.method:
        return no_change(session)
    remembered = {**session.other_params, session.method: session.params}
    params = remembered.pop(action.name, read_only({}))
    text = f"Method: {action.name}."
    session = replace(
        add_undo_step(session, text),
        method=action.name,
        constraint_mode=methods(action.name).constraint_mode(params),
        params=params,
        other_params=read_only(remembered),
    )
    session, note = _after_mode_change(session, text)
    return request_run(session, text, "tree", note)


def _after_mode_change(session: Session, text: str) -> tuple[Session, str]:
    """Disable constraints that the new mode does not allow; extend the announcement."""
    session, refused = disable_contradictions(session)
    if refused:
        text += (
            f" {count_noun(refused, 'constraint')} switched off: they contradict earlier ones, and"
        )
        text += " this method is not soft."
    if session.constraint_mode == "ignored" and session.enabled:
        text += f" {IGNORED_TEXT}"
    return session, text


def set_params(session: Session, action: SetParams, methods: Methods) -> UpdateResult:
    params = {**session.params, **action.values}
    if params == dict(session.params):
        return no_change(session)
    text = "Parameters: " + ", ".join(
        f"{name} = {_shorten(value)}" for name, value in action.values.items()
    )
    mode = methods(session.method).constraint_mode(params)
    moved = (
        action.is_dragging
        and mode == session.constraint_mode
        and _is_same_parameter_step(session, action)
    )
    session = rename_last_step(session, text) if moved else add_undo_step(session, text)
    session = replace(session, params=read_only(params))
    if moved:  # the trees of a moving slider are not kept in the history
        history = tuple(each for each in session.history if each.run != session.run)
        session, effects = request_run(session, text + ".", "snapshot")
        return replace(session, history=history), effects
    if mode == session.constraint_mode:
        return request_run(session, text + ".", "snapshot")
    session, note = _after_mode_change(replace(session, constraint_mode=mode), text + ".")
    return request_run(session, text + ".", "snapshot", note)


def _shorten(value: Any) -> str:
    """Return the value as a text of limited length."""
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _is_same_parameter_step(session: Session, action: SetParams) -> bool:
    """Return True if the newest undo step changed these parameters and nothing else."""
    if not session.past:
        return False
    before = session.past[-1]
    others = {**session.params, **action.values}
    unchanged = (before.method, before.data, before.seed) == (
        session.method,
        session.data,
        session.seed,
    )
    return (
        unchanged
        and before.constraint_mode == session.constraint_mode
        and before.constraints == session.constraints
        and before.label.startswith("Parameters: ")
        and {**before.params, **action.values} == others
    )


def set_seed(session: Session, action: SetSeed) -> UpdateResult:
    if action.seed == session.seed:
        return no_change(session)
    text = f"Seed {action.seed}."
    return request_run(
        replace(add_undo_step(session, text), seed=int(action.seed)), text, "nothing"
    )
