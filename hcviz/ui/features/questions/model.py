"""State of the question card, as plain JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz import questions
from hcviz.algorithms import get as get_algorithm
from hcviz.core.layout import elbows, leaf_order, with_even_heights
from hcviz.questions import Question
from hcviz.ui.parts.images import as_uri
from hcviz.ui.state.store import Store

#: Least and largest number of items in a piece, and of pieces to choose from.
SIZES, CANDIDATES = (3, 12), (1, 200)
#: A piece with more items is not drawn on the card: the question is about the tree on the screen.
MAX_CARD_ITEMS = 16


def state(store: Store) -> dict[str, Any]:
    """Return the state of the card, as plain JSON."""
    session, view = store.session, store.view
    question = view.question
    return {
        "ready": session.snapshot is not None,
        "waiting": view.wants_question and session.status == "sampling",
        "strategies": [[s.name, s.title] for s in questions.STRATEGIES.values()],
        "strategy": view.strategy,
        "about": questions.STRATEGIES[view.strategy].summary,
        "size": view.question_size,
        "candidates": view.question_candidates,
        "sized": questions.STRATEGIES[view.strategy].has_size,
        "varied": questions.STRATEGIES[view.strategy].has_distance_variance,
        "induced": view.question_induced,
        "limits": [*SIZES, *CANDIDATES],
        "question": None if question is None else _card(store, question),
    }


def card_order(question: Question) -> list[int]:
    """Return the items of the question in the order of the card, from top to bottom."""
    if len(question.items) > MAX_CARD_ITEMS:
        return []
    return [int(question.items[leaf]) for leaf in leaf_order(with_even_heights(question.shown))]


def deniable(store: Store, question: Question) -> bool:
    """Return True if the answer may be that the items are not a group."""
    return question.is_group and get_algorithm(store.session.method).avoids_groups


def _card(store: Store, question: Question) -> dict[str, Any]:
    """Return the open question: its items, and the path of the piece of the tree."""
    session, data, draft = store.session, store.dataset, store.view.draft
    labels = session.labels
    if len(question.items) > MAX_CARD_ITEMS:
        return {"whole": True, "picks": False, "group": False, "items": [], "path": []} | {
            "deniable": False,
            "kind": question.strategy,
            "why": question.why.sentence(labels), "repairing": draft.mode == "repair", "top": 1.0,
        }  # fmt: skip
    shown = with_even_heights(question.shown)
    order = leaf_order(shown)
    x, y = elbows(shown, order)
    items = card_order(question)
    images = None if data is None or data.images is None else data.images
    return {
        "picks": question.is_odd_one_out,
        "kind": question.strategy,
        "why": question.why.sentence(labels),
        "repairing": draft.mode == ("eject" if question.is_group else "repair"),
        "group": question.is_group,
        "deniable": deniable(store, question),
        "top": float(shown.height[-1]) or 1.0,
        "path": [None if np.isnan(a) else [float(a), float(b)] for a, b in zip(x, y, strict=True)],
        "items": [
            {
                "id": item,
                "name": labels[item],
                "image": None if images is None else as_uri(images[item]),
                "mark": "apart" if item in draft.apart else "together" * (item in draft.group),
            }
            for item in items
        ],
    }
