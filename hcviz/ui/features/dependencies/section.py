"""The section What the constraints are worth: dependency, guarantee, and useful constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError
from hcviz.core.text import count_noun
from hcviz.metrics import Dependency, Usefulness, dependency_guarantee
from hcviz.ui.features.dependencies import model as dependencies_model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.foldable import foldable_section, minimises_cost
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Constraints that are listed, at most; the others are counted.
MAX_LISTED = 60
_MARKS = {
    "useful": "does not follow from the others, and is not true without any answer",
    "implied": "follows from the other answers",
    "already": "true without any answer",
}


def state(store: Store) -> dict[str, Any]:
    """Return the state of the section, as plain JSON."""
    session = store.session
    if not session.enabled:
        return {
            "sentence": "No constraints yet. "
            "Random cutting reaches 2/3 of the best value on average."
        }
    groups = sum(each.is_clade for each in session.enabled)
    if groups:
        verb = "is a group" if groups == 1 else "are groups"
        return {"sentence": f"Defined for triplets only: {groups:,} of the constraints {verb}."}
    if len(session.triplets) > dependencies_model.MAX_TRIPLETS:
        return {"sentence": f"Available up to {dependencies_model.MAX_TRIPLETS:,} triplets."}
    found = dependencies_model.dependency_digraph(store)
    if isinstance(found, HcvizError):
        return {"sentence": found.message}
    if found is None:
        return {"sentence": "Computing…"}
    return {
        "sentence": "",
        "facts": facts(store, found),
        "words": guarantee_sentence(store, found),
    } | _answers_state(store)


def facts(store: Store, found: Dependency) -> list[list[str]]:
    guarantee = dependency_guarantee(store.session.n_items, store.session.triplets, found)
    return [
        ["Triplets", f"{len(store.session.triplets):,}"],
        ["Pairs they bind", f"{len(found.bases):,}"],
        ["Layers", f"{layer_count(found):,}"],
        ["Dependency measure", f"{found.dmc:,.6g}"],
        ["Guarantee", percent(guarantee)],
    ]


def layer_count(found: Dependency) -> int:
    """Return the number of layers below the class with the largest measure."""
    return len(found.layers(int(np.argmax(found.measures)))) if len(found.bases) else 0


def guarantee_sentence(store: Store, found: Dependency) -> str:
    """Return a sentence about the guarantee (Chatziafratis et al. 2018, theorem 5)."""
    session = store.session
    guarantee = dependency_guarantee(session.n_items, session.triplets, found)
    named = np.unique(session.triplets.rows).size
    formula = (
        f"2 (1 − k/n) / (3 DMC), with k = {named:,} of n = {session.n_items:,} items named and "
        f"a dependency measure DMC of {found.dmc:,.6g}"
    )
    if guarantee <= 0:
        return f"Constrained random cutting is has no guarantee here: {formula}."
    return (
        f"Constrained random cutting reaches {percent(guarantee)} of the best value or more, on "
        f"average: {formula}."
    )


def percent(value: float) -> str:
    """Return a share in per cent, with two significant digits or more."""
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.1f} %"


def _answers_state(store: Store) -> dict[str, Any]:
    found = dependencies_model.useful_answers(store)
    session = store.session
    if not isinstance(found, Usefulness):
        text = "" if found is None else str(found)
        return {"answers": [], "more": 0, "count": text or "Computing which are useful…"}
    marks = [
        "implied" if implied else "already" if already else "useful"
        for implied, already in zip(found.implied, found.already, strict=True)
    ]
    useful = marks.count("useful")
    total = len(marks)
    count = f"{useful:,} of {count_noun(total, 'answer')} {'is' if useful == 1 else 'are'}"
    order = sorted(range(total), key=lambda i: marks[i] != "useful")  # stable: as they were given
    return {
        "answers": [
            {
                "id": session.enabled[i].id,
                "sentence": session.sentence_of(session.enabled[i]),
                "mark": marks[i],
                "why": _MARKS[marks[i]],
            }
            for i in order[:MAX_LISTED]
        ],
        "more": max(0, total - MAX_LISTED),
        "count": f"{count} useful.",
        "method": _already_note(store),
    }


def _already_note(store: Store) -> str:
    """Return a note about the tree without constraints, or why there is none."""
    found = dependencies_model.tree_without_constraints(store)
    if isinstance(found, HcvizError):
        return f"It is not known which are true without answers. {found.message}"
    method = dependencies_model.comparison_method_title(store)
    return f"Already: in the tree without answers ({method})."


@ACTS.on("show")
def _show(actions: Actions, id: int) -> None:
    found = actions.store.session.find(id)
    if found is not None:
        actions.select_items(found.named)


@ACTS.on("sheet")
def _open_sheet(actions: Actions) -> None:
    actions.store.change_view(sheet="dependencies")


def _depends_on(store: Store) -> Any:
    session = store.session
    return (
        session.constraints, session.labels, session.method, session.params, session.seed,
        session.data, store.dataset, store.n_computed, store.is_streaming,
    )  # fmt: skip


SECTION = foldable_section(
    name="worth",
    title="What the constraints are worth",
    is_shown=lambda store: bool(store.session.enabled) or minimises_cost(store),
    is_open_at_first=minimises_cost,
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
)
