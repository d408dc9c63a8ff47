"""What a lesson shows: its card, and the tree in the middle of the page."""

from __future__ import annotations

from typing import Any

from hcviz.core.tree import Tree
from hcviz.session.constraint import names
from hcviz.ui.features.lessons.lesson import Asked, Lesson, Outcome
from hcviz.ui.state.store import Store


def truth(store: Store) -> Tree | None:
    """The target tree of the session's items, if it says anything."""
    data = store.dataset
    target = None if data is None else data.target
    if target is None or target.n_internal < 2 or target.n_leaves != store.session.n_items:
        return None
    return target


def no_truth(store: Store) -> str:
    """Why there can be no lesson; "" if there can."""
    if truth(store) is None:
        return "No truth is known for these items. Choose data with one, such as Zoo."
    return ""


def tree_to_show(store: Store) -> Tree | None:
    """The tree in the middle of the page: the session's, but for a lesson's question."""
    lesson, snapshot = store.view.lesson, store.session.snapshot
    if snapshot is None:
        return None
    if lesson is None or lesson.asked is None:
        return snapshot.tree
    return lesson.asked.outside if lesson.outcome is None else lesson.outcome.tree


def picture(store: Store) -> dict[str, Any]:
    """The lesson's card, as plain JSON."""
    lesson, session = store.view.lesson, store.session
    if lesson is None:
        return {"on": False}
    labels, asked, outcome = session.labels, lesson.asked, lesson.outcome
    replay = None
    if lesson.replay:
        at, of = len(session.past), len(session.past) + len(session.future)
        replay = {"at": at, "of": of, "last": session.past[-1].label if at else ""}
    return {
        "on": True,
        "working": session.status == "sampling",
        "item": None if asked is None else labels[asked.gap.item],
        "guess": _guess(store, asked) if asked is not None and outcome is None else "",
        "outcome": None if asked is None or outcome is None else _outcome(asked, outcome, labels),
        "score": _score(lesson),
        "replay": replay,
    }


def guessed(store: Store, asked: Asked) -> tuple[int, ...]:
    """What is selected, without the item itself."""
    return tuple(each for each in store.view.selection if each != asked.gap.item)


def _guess(store: Store, asked: Asked) -> str:
    items = guessed(store, asked)
    if not items:
        return ""
    clade = asked.gap.clade(asked.gap.place(items))
    if len(clade) == len(asked.gap.others):
        return "apart from all the others"
    return f"beside {names(clade.tolist(), store.session.labels)}"


def _outcome(asked: Asked, outcome: Outcome, labels: tuple[str, ...]) -> dict[str, Any]:
    gap, item = asked.gap, labels[asked.gap.item]
    mates = names(gap.target_siblings(asked.target).tolist(), labels)
    if outcome.right:
        said = f"In the truth {item} goes with {mates}."
    else:
        place = names(gap.clade(outcome.best).tolist(), labels)
        away = "one branch" if outcome.off == 1 else f"{outcome.off} branches"
        said = f"In the truth {item} goes with {mates}: beside {place}, {away} from your place."
    if not outcome.told:
        share = f"Your place says nothing that the truth knows of {item}."
    else:
        share = f"{100 * outcome.share:.0f} % of what your place says of {item} is true"
        vague = outcome.true == outcome.told and not outcome.right
        share += ", but it can be told closer." if vague else "."
    return {"right": outcome.right, "said": said, "share": share}


def _score(lesson: Lesson) -> str:
    if not lesson.results:
        return ""
    right = sum(each for _, each in lesson.results)
    mean = 100 * sum(share for share, _ in lesson.results) / len(lesson.results)
    return f"{right} of {len(lesson.results)} right; {mean:.0f} % true on average"
