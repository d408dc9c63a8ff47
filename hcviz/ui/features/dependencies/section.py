"""What the constraints are worth: dependency, guarantee, and which of them are useful."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError
from hcviz.metrics import Dependency, Usefulness, dependency_guarantee
from hcviz.ui.features.dependencies import model as dependencies
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.folding import folding, structural
from hcviz.ui.state.store import Store

#: Answers listed; the rest is counted.
LISTED = 60
_MARKS = {
    "useful": "neither follows from the others nor is true without any answer",
    "implied": "follows from the other answers",
    "already": "true without any answer",
}


def picture(store: Store) -> dict[str, Any]:
    session = store.session
    if not session.enabled:
        return {"said": "No answers yet. Random cutting alone is sure of 2/3 of the best value."}
    if len(session.triplets) > dependencies.MOST:
        return {"said": f"Told for up to {dependencies.MOST:,} triplets."}
    found = dependencies.digraph(store)
    if isinstance(found, HcvizError):
        return {"said": found.message}
    if found is None:
        return {"said": "Being worked out."}
    return {"said": "", "facts": facts(store, found), "words": words(store, found)} | _list(store)


def facts(store: Store, found: Dependency) -> list[list[str]]:
    guarantee = dependency_guarantee(store.session.n_items, store.session.triplets, found)
    return [
        ["Triplets", f"{len(store.session.triplets):,}"],
        ["Pairs they bind", f"{len(found.bases):,}"],
        ["Layers", f"{deepest(found):,}"],
        ["Dependency measure", f"{found.dmc:,.6g}"],
        ["Guarantee", share(guarantee)],
    ]


def deepest(found: Dependency) -> int:
    """The layers below the class of the largest measure."""
    return len(found.layers(int(np.argmax(found.measures)))) if len(found.bases) else 0


def words(store: Store, found: Dependency) -> str:
    """The guarantee in words (Chatziafratis et al. 2018, theorem 5)."""
    session = store.session
    guarantee = dependency_guarantee(session.n_items, session.triplets, found)
    named = np.unique(session.triplets.rows).size
    formula = (
        f"2 (1 − k/n) / (3 DMC), with k = {named:,} of n = {session.n_items:,} items named and "
        f"a dependency measure DMC of {found.dmc:,.6g}"
    )
    if guarantee <= 0:
        return f"Constrained random cutting is sure of nothing here: {formula}."
    return (
        f"Constrained random cutting is sure of {share(guarantee)} of the best value, on average: "
        f"{formula}."
    )


def share(value: float) -> str:
    """A share in per cent, two digits that count."""
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.1f} %"


def _list(store: Store) -> dict[str, Any]:
    found = dependencies.worth(store)
    session = store.session
    if not isinstance(found, Usefulness):
        said = "" if found is None else str(found)
        return {"answers": [], "more": 0, "count": said or "Which are useful is being worked out."}
    marks = [
        "implied" if implied else "already" if already else "useful"
        for implied, already in zip(found.implied, found.already, strict=True)
    ]
    useful = marks.count("useful")
    total = len(marks)
    count = f"{useful:,} of {total:,} answer{'s' * (total != 1)} {'is' if useful == 1 else 'are'}"
    order = sorted(range(total), key=lambda i: marks[i] != "useful")  # stable: as they were given
    return {
        "answers": [
            {
                "id": session.enabled[i].id,
                "sentence": session.enabled[i].sentence(session.labels),
                "mark": marks[i],
                "why": _MARKS[marks[i]],
            }
            for i in order[:LISTED]
        ],
        "more": max(0, total - LISTED),
        "count": f"{count} useful.",
        "method": _without(store),
    }


def _without(store: Store) -> str:
    """Where it was looked up whether an answer is true without any, or why it was not."""
    found = dependencies.tree_without(store)
    if isinstance(found, HcvizError):
        return f"Whether any is true without answers is not known. {found.message}"
    return f"Already: in the tree without answers ({dependencies.compared_title(store)})."


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if name == "show":
        found = store.session.find(int(more["id"]))
        if found is not None:
            actions.take((*found.group, found.apart))
    elif name == "sheet":
        store.look(sheet="dependencies")


def _sees(store: Store) -> Any:
    session = store.session
    return (
        session.constraints, session.labels, session.method, session.params, session.seed,
        session.data, store.dataset, store.answers, store.still,
    )  # fmt: skip


SECTION = folding(
    name="worth",
    title="What the constraints are worth",
    there=lambda store: bool(store.session.enabled) or structural(store),
    opens=structural,
    picture=picture,
    sees=_sees,
    act=_act,
)
