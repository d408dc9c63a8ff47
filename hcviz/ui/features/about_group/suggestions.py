"""Names that the page suggests for the selected items, with reasons."""

from __future__ import annotations

from hcviz.core.text import count_noun
from hcviz.description import SuggestedName, suggest_names
from hcviz.ui.features.about_group.item_data import computed, digest, item_data
from hcviz.ui.state.store import Store


def suggestions(store: Store, items: tuple[int, ...]) -> list[dict[str, str]]:
    """Return names for these items that no group has, each with the reason for it."""
    data = store.dataset
    if data is None or store.view.lesson is not None or len(items) < 2:
        return []
    if data.labels != store.session.labels:
        return []
    known, number = item_data(store, data)
    key = digest(items, [number])
    found: tuple[SuggestedName, ...] | None = computed(
        store, "suggested names", key, lambda: suggest_names(known, items)
    )
    taken = {group.name.casefold() for group in store.session.groups}
    return [
        {"name": each.name, "why": reason(each)}
        for each in found or ()
        if each.name.casefold() not in taken
    ]


def reason(name: SuggestedName) -> str:
    """Return why a name fits: ``in 7 of 8 names here, in 1 elsewhere``."""
    if name.source == "piles":
        who = count_noun(name.total, "participant")
        return f"{name.inside} of {who} called a similar pile this"
    place = "names" if name.source == "words" else "items"
    verb = "in" if name.source == "words" else "true for"
    inside = (
        f"all {name.total:,}" if name.inside == name.total else f"{name.inside:,} of {name.total:,}"
    )
    outside = "none elsewhere" if not name.outside else f"{name.outside:,} elsewhere"
    return f"{verb} {inside} {place} here, {outside}"


__all__ = ["reason", "suggestions"]
