"""The section Learning curve: the distance of each tree to the target, or to later answers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.metrics import triplet_distance
from hcviz.session.learning_curve import count_satisfied, curve_points, held_out_scores
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store


@lru_cache(maxsize=256)
def target_distance(target: Tree, tree: Tree) -> float:
    """Return the exact triplet distance, cached: 1 ms for 1,000 items, 0.1 s for 20,000."""
    return triplet_distance(target, tree)


def state(store: Store) -> dict[str, Any] | None:
    """Return the state of the section; None without answers, or without anything to measure by."""
    session, data = store.session, store.dataset
    if not session.enabled or data is None or data.labels != session.labels:
        return None
    if data.target is not None and data.target.n_internal > 1:
        return _to_target(store, data.target)
    return _to_answers(store)


def _to_target(store: Store, target: Tree) -> dict[str, Any] | None:
    found = curve_points(store.session)
    if not found:
        return None
    points = [(len(each.answers), target_distance(target, each.tree)) for each in found]
    baselines = [(title, target_distance(target, tree)) for title, tree in store.view.baselines]
    count, now = points[-1]
    return {
        "measure": "Triplet distance to the target",
        "better": "Lower is better.",
        "points": list(map(list, points)),
        "baselines": list(map(list, baselines)),
        "sentence": f"After {_answer_count(count)}: {_format_share(now)}."
        + "".join(f" {title.capitalize()}: {_format_share(y)}." for title, y in baselines),
    }


def _to_answers(store: Store) -> dict[str, Any] | None:
    found = held_out_scores(store.session)
    if not found:
        return None
    now = store.session.enabled
    baselines = [
        (title, count_satisfied(tree, now) / len(now)) for title, tree in store.view.baselines
    ]
    last = found[-1]
    return {
        "top": 1.0,  # the axis of a share always goes up to 1
        "measure": "Later answers that the tree satisfied already",
        "better": "Higher is better. No target tree is known for these items.",
        "points": [[each.answers, each.share] for each in found],
        "baselines": list(map(list, baselines)),
        "sentence": f"After {_answer_count(last.answers)}: "
        f"{last.true} of the {last.held} given later."
        + "".join(f" {title.capitalize()}: {_format_share(y)} of all." for title, y in baselines),
    }


def _answer_count(number: int) -> str:
    return "no answer" if number == 0 else count_noun(number, "answer")


def _format_share(share: float) -> str:
    """Return a share with three decimals, small ones with four: one item may change it by 0.01."""
    return f"{share:.3f}" if share >= 0.01 or share == 0 else f"{share:.4f}"


SECTION = Section(
    name="learning",
    state=state,
    depends_on=lambda s: (
        s.session.snapshot,
        s.session.constraints,
        s.session.past,
        s.dataset,
        s.view.baselines,
    ),
)
