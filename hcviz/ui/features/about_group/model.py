"""State of *What makes this group* and *About this item*, as plain JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hcviz.core.text import count_noun
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset
from hcviz.description import (
    FeatureContrast,
    GroupDescription,
    ItemFit,
    describe_group,
    describe_item,
)
from hcviz.description.group import sibling_items
from hcviz.description.item import group_probabilities, thinned_trees
from hcviz.session.model import Group
from hcviz.ui.features.about_group.item_data import (
    computed,
    computed_in_background,
    digest,
    item_data,
)
from hcviz.ui.features.groups.places import clade_of, shown_taxonomy
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.state.store import Store

#: Features of an item that are listed, at most.
MAX_CELLS = 40
#: Groups whose probability is listed, at most.
MAX_GROUPS = 5
#: Effects above this have a whole bar.
LONGEST_BAR = 4.0

WAITING = "Computing…"
LATER = "Computed when the run has finished."


def state(store: Store, tree: Tree, items: tuple[int, ...]) -> dict[str, Any] | None:
    """Return the state for the selected items; None if there is nothing to show."""
    data = store.dataset
    if data is None or store.view.lesson is not None or tree.n_leaves != data.n_items:
        return None
    if len(items) == 1:
        return _item_state(store, data, items[0])
    if len(set(items)) == data.n_items:
        return None
    return _group_state(store, data, tree, items)


def _shown_groups(store: Store) -> tuple[Group, ...]:
    """Return the named groups, with the items of their places as members."""
    taxonomy = shown_taxonomy(store)
    return tuple(
        replace(group, members=clade_of(taxonomy, group)) for group in store.session.groups
    )


def _key(groups: tuple[Group, ...], *items: Any) -> bytes:
    parts = [part for group in groups for part in (group.name, group.members)]
    return digest(*items, *parts)


# ---------------------------------------------------------------------- a group


def _group_state(
    store: Store, data: Dataset, tree: Tree, items: tuple[int, ...]
) -> dict[str, Any] | None:
    if store.is_streaming:
        return {"kind": "group", "sentence": LATER}
    groups = _shown_groups(store)
    chosen = np.unique(np.asarray(items, np.int64))
    known, number = item_data(store, data)
    key = _key(groups, chosen, sibling_items(tree, chosen), [number])
    found: GroupDescription | None = computed(
        store, "group", key, lambda: describe_group(known, tree, chosen, groups)
    )
    if found is None:
        return {"kind": "group", "sentence": WAITING}
    made = group_json(found, data.labels, support_text(store, tree, chosen))
    return made if made["sides"] or made["facts"] else None


def support_text(store: Store, tree: Tree, items: Any) -> str:
    """Return the support of these items as a clade in the sampled trees, or ""."""
    supporting = store.support_samples
    if supporting is None or not 1 < len(items) < tree.n_leaves:
        return ""
    with supporting.open() as posterior:
        if posterior is None or posterior.n_items != tree.n_leaves:
            return ""
        return supports_model.percent(posterior.clade_support(items.astype(np.int32)))


def group_json(
    found: GroupDescription, labels: tuple[str, ...], support: str = ""
) -> dict[str, Any]:
    """Return a description of a group as plain JSON."""
    n_rest = len(labels) - len(found.items)
    sides = [_side("rest", "all other items", "Others", n_rest, found.against_rest)]
    if len(found.sibling) < n_rest:
        name = "the sibling branch" if found.is_clade else "the rest of its branch"
        short = "Sibling" if found.is_clade else "Branch"
        sides.append(_side("sibling", name, short, len(found.sibling), found.against_sibling))
    has_features = bool(found.against_rest or found.against_sibling)
    return {
        "kind": "group",
        "sentence": "",
        "words": sentence(found.against_rest),
        "sides": sides if has_features else [],
        "facts": _facts(found, support),
        "typical": [_fit(each, labels, found.is_clade, False) for each in found.typical],
        "least": [_fit(each, labels, found.is_clade, True) for each in found.least_fitting],
    }


def _side(
    key: str, name: str, short: str, count: int, contrasts: tuple[FeatureContrast, ...]
) -> dict[str, Any]:
    return {
        "key": key,
        "name": name,
        "short": short,
        "title": f"Compare with {name}: {count_noun(count, 'item')}",
        "bars": [
            {
                "name": each.title,
                "length": max(-1.0, min(1.0, round(each.effect / LONGEST_BAR, 3))),
                "inside": _amount(each, each.inside),
                "outside": _amount(each, each.outside),
                "title": _explanation(each, name),
            }
            for each in contrasts
        ],
    }


def _amount(contrast: FeatureContrast, value: float) -> str:
    if contrast.dates is not None:
        return contrast.dates.text(value)[:10]  # the mean of dates has no meaningful time
    return _number(value) if contrast.kind == "number" else supports_model.percent(value)


def _explanation(each: FeatureContrast, other: str) -> str:
    inside, outside = _amount(each, each.inside), _amount(each, each.outside)
    if each.kind == "text":
        return f"{each.title}: contained in {inside} of the items here, {outside} in {other}."
    return f"{each.title}: {inside} here, {outside} in {other}. {_difference(each)}"


def _difference(each: FeatureContrast) -> str:
    kind = "mean" if each.kind == "number" else "share"
    more = _direction(each)
    return f"The {kind} is {more} by {abs(each.effect):.1f} standard deviations."


def _direction(each: FeatureContrast) -> str:
    words = ("lower", "higher") if each.dates is None else ("earlier", "later")
    return words[each.effect > 0]


def sentence(contrasts: tuple[FeatureContrast, ...]) -> str:
    """Return the two clearest differences from all other items in words, or ""."""
    parts = []
    for each in contrasts[:2]:
        inside, outside = _amount(each, each.inside), _amount(each, each.outside)
        if each.kind == "number":
            parts.append(f"{each.title} is {_direction(each)}: {inside} (others {outside})")
        else:
            share = {"100 %": "all", "0 %": "none"}.get(inside, inside)
            parts.append(f"{share} {_has(each)} (others {outside})")
    text = "; ".join(parts)
    return f"Here, {text}." if text else ""


def _has(each: FeatureContrast) -> str:
    """Return ``have material = wood``, ``have electric = yes`` or ``have "red" in colours``."""
    if each.kind == "text":
        return f'have "{each.value}" in {each.feature}'
    return f"have {each.title}" if each.value is not None else f"have {each.title} = yes"


def _facts(found: GroupDescription, support: str) -> list[list[str]]:
    facts = []
    if found.similarity_inside is not None:
        facts.append(["Similarity inside", _number(found.similarity_inside)])
    if found.similarity_sibling is not None:
        word = "sibling" if found.is_clade else "rest of its branch"
        facts.append([f"To the {word}", _number(found.similarity_sibling)])
    if found.nearest_group is not None:
        name, similarity = found.nearest_group
        facts.append([f"To {name}, the nearest group", _number(similarity)])
    if support:
        facts.append(["Support", support])
    return facts


def _fit(each: ItemFit, labels: tuple[str, ...], is_clade: bool, marked: bool) -> dict[str, Any]:
    other = each.nearest or ("the sibling" if is_clade else "the rest of its branch")
    title = f"Mean similarity to this group {_number(each.similarity)}"
    away = marked and each.margin < 0
    if np.isfinite(each.margin):
        title += f", to {other} {_number(each.similarity - each.margin)}"
    return {
        "id": each.item,
        "name": labels[each.item],
        "title": f"{title}. Click to select it.",
        "away": f"closer to {other}" if away else "",
    }


# ---------------------------------------------------------------------- an item


def _item_state(store: Store, data: Dataset, item: int) -> dict[str, Any]:
    known, number = item_data(store, data)
    key = digest([item, number])
    found = computed(store, "item", key, lambda: describe_item(known, item))
    if found is None:
        return {"kind": "item", "sentence": WAITING}
    cells = [[name, cell_text(value)] for name, value in found.row]
    shares, note = _probabilities(store, item)
    return {
        "kind": "item",
        "sentence": "",
        "row": cells[:MAX_CELLS],
        "more": max(0, len(cells) - MAX_CELLS),
        "nearest": [
            {"id": k, "name": data.labels[k], "text": _number(value)} for k, value in found.nearest
        ],
        "groups": [
            {"name": name, "share": round(share, 3), "text": supports_model.percent(share)}
            for name, share in shares
        ],
        "groupsNote": note,
    }


def _probabilities(store: Store, item: int) -> tuple[list[tuple[str, float]], str]:
    """Return the most probable groups of an item, and what to say while they are not known."""
    groups, supporting = _shown_groups(store), store.support_samples
    if supporting is None or not groups:
        return [], ""
    if store.is_streaming:
        return [], LATER
    with supporting.open() as posterior:
        drawn = 0 if posterior is None else len(posterior)
    if not drawn:
        return [], ""

    def work() -> Any:
        with supporting.open() as posterior:
            trees = thinned_trees(posterior, len(groups))
        return group_probabilities(trees, item, groups)

    key = _key(groups, [item, drawn], repr(supporting.key))
    found = computed_in_background(store, "groups of an item", key, work)
    if found is None:
        return [], WAITING
    return [pair for pair in found if pair[1] > 0][:MAX_GROUPS], ""


def cell_text(value: float | str | bool | None) -> str:
    """Return a cell as text: yes or no, a number, a category, or a dash where it is missing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """Return a number with three digits or more: ``0.0123``, ``12.3``, ``1,780``."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    text = f"{value:,.{digits}f}" if abs(value) >= 0.01 or not value else f"{value:.2g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


__all__ = ["cell_text", "group_json", "sentence", "state", "support_text"]
