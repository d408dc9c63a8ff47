"""Starting runs, and what the runner reports of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.session.actions import (
    Arrived,
    Attach,
    Cancel,
    Failed,
    Finished,
    LoadedData,
    Rerun,
    SetMethod,
    SetParams,
    SetSeed,
    Stopped,
    frozen,
)
from hcviz.session.effects import Announce, CancelRun, StartRun
from hcviz.session.history import Stepped, relabelled, remember, step
from hcviz.session.mend import counted, mended
from hcviz.session.methods import Methods
from hcviz.session.model import Footing, Session

_ORDER: tuple[Footing, ...] = ("nothing", "tree", "snapshot")

#: Characters of a parameter's value in the name of a step.
LONGEST_VALUE = 60

IGNORED = "This method ignores constraints: the tree does not follow them."


def say(session: Session, text: str) -> Stepped:
    return replace(session, message=text), (Announce(text),)


def unchanged(session: Session) -> Stepped:
    return session, ()


def begin(
    session: Session,
    cause: str,
    start: Footing,
    text: str | None = None,
    keeps_tree: bool = False,
) -> Stepped:
    """Start the next run, in the place of whatever runs; the tree shown goes to the history.

    ``text`` is announced (``cause`` by default). ``keeps_tree``: the tree on the screen stays
    throughout the run. Without data there is nothing to run: it is only announced.
    """
    if not session.n_items:
        return say(session, "There is nothing to run yet: choose data first.")
    session, effects = say(session, text or cause)
    before = session.past[-1] if session.past else session
    session = remember(session, before)
    snapshot = session.snapshot
    start = min(start, session.footing, key=_ORDER.index)
    origin: Snapshot | Tree | None = None
    fits = snapshot is not None and snapshot.tree.n_leaves == session.n_items
    if snapshot is not None and fits and start != "nothing":
        origin = snapshot if start == "snapshot" else snapshot.tree
    run = session.run + 1
    session = replace(
        session,
        run=run,
        lineage=run,
        footing=start,
        status="sampling",
        progress=(0, 0),
        cause=cause,
        error=None,
        awaiting=False,
        keeps_tree=keeps_tree,
        reference=session.order if fits else session.reference,
    )
    go = StartRun(
        run, session.method, session.params, session.seed, session.triplets, origin,
        session.comparisons,
    )  # fmt: skip
    return session, (*effects, go)


def is_live(session: Session, run: int) -> bool:
    """Whether this run's reports still count; others are stale and dropped."""
    return session.status == "sampling" and run == session.run == session.lineage


# ---------------------------------------------------------------------- what the runner says


def arrived(session: Session, action: Arrived) -> Stepped:
    if not is_live(session, action.run):
        return unchanged(session)
    snapshot = action.snapshot
    before = session.snapshot
    if session.keeps_tree and before is not None:  # everything but the tree is the new draw's
        snapshot = replace(snapshot, tree=before.tree, labels=before.labels)
    progress = (int(snapshot.step), int(snapshot.total))
    session = replace(session, snapshot=snapshot, shown=action.run, progress=progress)
    return replace(session, footing="snapshot"), ()


def finished(session: Session, action: Finished) -> Stepped:
    if not is_live(session, action.run):
        return unchanged(session)
    session = replace(remember(session, session), status="settled")
    if session.awaiting:
        return begin(session, "Answers that came during the run.", "snapshot")
    return say(session, f"{_just_read(session)} {settled_sentence(session)}".strip())


def _just_read(session: Session) -> str:
    """What there was to say of a file that was read before this run and nothing else."""
    last = session.log[-1].action if session.log else None
    return last.said if isinstance(last, (Attach, LoadedData)) else ""


def settled_sentence(session: Session) -> str:
    count = len(session.enabled)
    if session.treats == "ignored" and count:
        return f"Done. {IGNORED}"
    if not count or session.tree is None:
        return "Done."
    broken = int((~session.tree.satisfies(session.triplets)).sum())
    if broken:
        verb = "does" if broken == 1 else "do"
        return f"Done. {broken} of {len(session.triplets)} triplets {verb} not hold in this tree."
    return "Done. The constraint holds." if count == 1 else f"Done. All {count} constraints hold."


def failed(session: Session, action: Failed) -> Stepped:
    if not is_live(session, action.run):
        return unchanged(session)
    error = (action.message, action.hint)
    session = replace(session, awaiting=False)
    return say(replace(session, status="failed", error=error), f"{action.message} {action.hint}")


def stopped(session: Session, action: Stopped) -> Stepped:
    if not is_live(session, action.run):
        return unchanged(session)
    session = replace(session, awaiting=False)
    return say(replace(session, status="cancelled"), "Stopped. What was shown last stays.")


# ---------------------------------------------------------------------- what the person says


def cancel(session: Session, action: Cancel) -> Stepped:
    if session.status != "sampling":
        return unchanged(session)
    run = session.run
    session, effects = say(
        replace(session, status="cancelled", awaiting=False),
        "Stopped. What was shown last stays.",
    )
    return session, (CancelRun(run), *effects)


def rerun(session: Session, action: Rerun) -> Stepped:
    where: Footing = "nothing" if action.fresh else "snapshot"
    text = "Running from the start." if action.fresh else "Running on."
    return begin(step(session, "Run"), text, where)


def set_method(session: Session, action: SetMethod, methods: Methods) -> Stepped:
    """The constraints stay; the new method begins at the shown tree."""
    if action.name == session.method:
        return unchanged(session)
    remembered = {**session.other_params, session.method: session.params}
    params = remembered.pop(action.name, frozen({}))
    text = f"Method: {action.name}."
    session = replace(
        step(session, text),
        method=action.name,
        treats=methods(action.name).constraint_mode(params),
        params=params,
        other_params=frozen(remembered),
    )
    session, note = _as_treated(session, text)
    return begin(session, text, "tree", note)


def _as_treated(session: Session, text: str) -> tuple[Session, str]:
    """What another treatment of triplets does to the list, and what is said of it."""
    session, refused = mended(session)
    if refused:
        text += f" {counted(refused)} switched off, at odds with earlier ones: they are not weighed"
        text += " any more."
    if session.treats == "ignored" and session.enabled:
        text += f" {IGNORED}"
    return session, text


def set_params(session: Session, action: SetParams, methods: Methods) -> Stepped:
    params = {**session.params, **action.values}
    if params == dict(session.params):
        return unchanged(session)
    text = "Parameters: " + ", ".join(
        f"{name} = {_brief(value)}" for name, value in action.values.items()
    )
    treats = methods(session.method).constraint_mode(params)
    moved = action.going_on and treats == session.treats and _same_step(session, action)
    session = relabelled(session, text) if moved else step(session, text)
    session = replace(session, params=frozen(params))
    if moved:  # the trees on the way are not worth coming back to
        history = tuple(each for each in session.history if each.run != session.run)
        session, effects = begin(session, text + ".", "snapshot")
        return replace(session, history=history), effects
    if treats == session.treats:
        return begin(session, text + ".", "snapshot")
    session, note = _as_treated(replace(session, treats=treats), text + ".")
    return begin(session, text + ".", "snapshot", note)


def _brief(value: Any) -> str:
    """A value in a line: of a list of a thousand the beginning."""
    said = str(value)
    return said if len(said) <= LONGEST_VALUE else f"{said[: LONGEST_VALUE - 1]}…"


def _same_step(session: Session, action: SetParams) -> bool:
    """Whether the newest step changed these parameters, and only them."""
    if not session.past:
        return False
    before = session.past[-1]
    others = {**session.params, **action.values}
    same = (before.method, before.data, before.seed) == (session.method, session.data, session.seed)
    return (
        same
        and before.treats == session.treats
        and before.constraints == session.constraints
        and before.label.startswith("Parameters: ")
        and {**before.params, **action.values} == others
    )


def set_seed(session: Session, action: SetSeed) -> Stepped:
    if action.seed == session.seed:
        return unchanged(session)
    text = f"Seed {action.seed}."
    return begin(replace(step(session, text), seed=int(action.seed)), text, "nothing")
