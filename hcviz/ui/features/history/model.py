"""State of the footer: the status sentence, errors, and the file that is being read."""

from __future__ import annotations

from typing import Any

from hcviz.ui.features.groups import model as groups_model
from hcviz.ui.features.levels import model as levels_model
from hcviz.ui.features.supports import support_changes
from hcviz.ui.features.top_bar.model import waiting_sentence, waits_for_compiler
from hcviz.ui.state.store import Store

#: What the page says before the first tree while the server compiles, and beside the tree from
#: which a sampler starts.
NO_TREE = (
    "At its first start, hcviz prepares its methods. This takes a minute or two, once. "
    "A tree appears as soon as one is ready."
)
FIRST_TREE = (
    "This is a first tree. The method is still being prepared, once, for a minute or two. "
    "You can correct the tree already; better ones follow."
)


def state(store: Store) -> dict[str, Any]:
    """Return the state of the footer, as plain JSON."""
    session, view = store.session, store.view
    if view.error:
        error: Any = view.error
    elif session.error and session.status == "failed":
        error = session.error
    else:
        error = None
    if view.draft.open:
        sentence = view.draft.sentence(session.labels)
    elif waiting_sentence(store):
        sentence = waiting_sentence(store)
    elif waits_for_compiler(store):
        compiling = NO_TREE if session.snapshot is None else FIRST_TREE
        sentence = f"{view.message or session.message} {compiling}".strip()
    elif view.message or session.message:
        changes = support_changes.changes_sentence(store)
        groups = groups_model.changes_sentence(store) if changes else ""
        clusters = levels_model.changes_sentence(store) if changes else ""
        parts = (view.message or session.message, changes, groups, clusters)
        sentence = " ".join(filter(None, parts))
    elif session.snapshot is None:
        sentence = "Building the first tree."
    else:
        sentence = "Click a subtree, then press T to say that it belongs together."
    return {
        "error": list(error) if error else None,
        "sentence": sentence,
        "hint": support_changes.CHANCE_RULE if "by chance" in sentence else "",
        "reading": None
        if view.loading is None
        else {"sentence": view.loading.sentence, "share": view.loading.share},
        "waiting": view.draft.open and session.snapshot is not store.drawn,
    }
