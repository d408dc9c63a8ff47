"""State of the card that asks a person to compare three items, as plain JSON."""

from __future__ import annotations

from typing import Any

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.session.choice import ChoiceKind
from hcviz.ui.parts.images import as_uri
from hcviz.ui.state.store import Store

#: Kind of question -> its text on the card, and its name in the menu.
QUESTIONS = {
    "odd": ("Which is the odd one out?", "Odd one out"),
    "central": ("Which of the three is most central?", "Most central"),
}
#: Which items are asked about -> text in the menu.
ITEM_CHOICES = {"seldom": "seldom seen items", "any": "all items"}
#: Answers of the person that are listed, at most; the newest come first.
MAX_LISTED = 60


def current_question(store: Store) -> ChoiceKind:
    """Return the kind of the question on the card, which other answers do not change."""
    return (store.view.three and store.view.three_put) or default_question(store)


def default_question(store: Store) -> ChoiceKind:
    """Return the kind of question that a person chose, else the most frequent kind in the data."""
    view, data = store.view, store.dataset
    if view.three_question is not None:
        return view.three_question
    known = data.asked if data is not None and data.labels == store.session.labels else None
    return "central" if (known or {}).get("central", 0) > (known or {}).get("odd", 0) else "odd"


def state(store: Store) -> dict[str, Any]:
    """Return the state of the card, as plain JSON."""
    session, view, data = store.session, store.view, store.dataset
    own, question = len(session.choices), current_question(store)
    fits = data is not None and data.labels == session.labels
    images = data.images if data is not None and fits else None
    return {
        "ready": len(session.labels) > 2,
        "prominent": fits and data is not None and data.comparisons is not None,
        "ask": QUESTIONS[question][0],
        "question": question,
        "questions": [[kind, title] for kind, (_, title) in QUESTIONS.items()],
        "from": view.three_from,
        "froms": [[kind, title] for kind, title in ITEM_CHOICES.items()],
        "items": [
            {
                "id": item,
                "name": session.labels[item],
                "image": None if images is None else _image_uri(images[item]),
            }
            for item in view.three
            if item < len(session.labels)
        ],
        "answers": own,
        "last": session.choices[-1].sentence(session.labels) if own else "",
        "given": [
            {"at": at, "sentence": session.choices[at].sentence(session.labels)}
            for at in range(own - 1, max(-1, own - 1 - MAX_LISTED), -1)
        ],
        "ignored": _ignored_note(store),
    }


def _image_uri(image: Any) -> str | None:
    return None if image is None else as_uri(image)


def _ignored_note(store: Store) -> dict[str, str] | None:
    """Return a note if the method does not use the answers, with a method that does."""
    session = store.session
    given = session.choices or session.data.answers
    if not given or "comparisons" in get_algorithm(session.method).needs:
        return None
    readers = (get_algorithm(name) for name in algorithms())
    other = next(each for each in readers if "comparisons" in each.needs)
    return {
        "sentence": f"{get_algorithm(session.method).title} does not use comparisons.",
        "method": other.name,
        "title": other.title,
    }
