"""State of the lesson card, and the tree that the page shows during a lesson."""

from __future__ import annotations

from typing import Any

from hcviz.core.text import names_text
from hcviz.core.tree import Tree
from hcviz.ui.features.lessons.lesson import GuessResult, Lesson, PlacementQuestion
from hcviz.ui.state.store import Store


def target_tree(store: Store) -> Tree | None:
    """Return the target tree of the session's items; None if there is none or it is a star."""
    data = store.dataset
    target = None if data is None else data.target
    if target is None or target.n_internal < 2 or target.n_leaves != store.session.n_items:
        return None
    return target


def no_lesson_because(store: Store) -> str:
    """Return a sentence that says why no lesson is possible, "" if one is."""
    if target_tree(store) is None:
        return "No correct tree is known for these items. Choose data with one, such as Zoo."
    return ""


def tree_to_show(store: Store) -> Tree | None:
    """Return the tree on the page: the session's, or that of the lesson's question."""
    lesson, snapshot = store.view.lesson, store.session.snapshot
    if snapshot is None:
        return None
    if lesson is None or lesson.asked is None:
        return snapshot.tree
    return lesson.asked.outside if lesson.outcome is None else lesson.outcome.tree


def state(store: Store) -> dict[str, Any]:
    """Return the state of the lesson card, as plain JSON."""
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


def guessed_items(store: Store, asked: PlacementQuestion) -> tuple[int, ...]:
    """Return the selected items without the item of the question."""
    return tuple(each for each in store.view.selection if each != asked.gap.item)


def _guess(store: Store, asked: PlacementQuestion) -> str:
    items = guessed_items(store, asked)
    if not items:
        return ""
    clade = asked.gap.clade(asked.gap.place(items))
    if len(clade) == len(asked.gap.others):
        return "apart from all the others"
    return f"beside {names_text(clade.tolist(), store.session.labels)}"


def _outcome(
    asked: PlacementQuestion, outcome: GuessResult, labels: tuple[str, ...]
) -> dict[str, Any]:
    gap, item = asked.gap, labels[asked.gap.item]
    siblings = names_text(gap.target_siblings(asked.target).tolist(), labels)
    if outcome.right:
        sentence = f"In the correct tree {item} is with {siblings}."
    else:
        place = names_text(gap.clade(outcome.best).tolist(), labels)
        away = "one branch" if outcome.off == 1 else f"{outcome.off} branches"
        sentence = (
            f"In the correct tree {item} is with {siblings}: beside {place}, {away} from yours."
        )
    if not outcome.n_stated:
        share = f"The correct tree has no statement about {item} at your place."
    else:
        share = f"{100 * outcome.share:.0f} % of the triplets of your place are correct"
        imprecise = outcome.true == outcome.n_stated and not outcome.right
        share += ", but a more precise place exists." if imprecise else "."
    return {"right": outcome.right, "sentence": sentence, "share": share}


def _score(lesson: Lesson) -> str:
    if not lesson.results:
        return ""
    right = sum(each for _, each in lesson.results)
    mean = 100 * sum(share for share, _ in lesson.results) / len(lesson.results)
    return f"{right} of {len(lesson.results)} right; {mean:.0f} % correct on average"
