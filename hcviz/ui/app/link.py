"""Links to a view: the query string of a URL that shows another person the same.

A link names built-in data only, and items by their indices. It has the named groups, the groups of
the constraints, and whether these are enabled. It does not have their notes, authors, weights and
times, which may be private. A session file has all of these, and the undo stack.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from hcviz.core.errors import InvalidParameter
from hcviz.core.text import shorten
from hcviz.session.constraint import (
    EVERYTHING_ELSE,
    NOT_A_GROUP,
    Apart,
    DataSpec,
    as_apart,
    outsiders,
)
from hcviz.session.model import Session, Statement
from hcviz.ui.state.saved_look import ALL, BY_HAND
from hcviz.ui.state.view_state import ViewState

#: Upper bound of the whole numbers in a link.
LARGEST = 2**63

#: A group, what is apart from it, and whether the constraint is enabled.
LinkedConstraint = tuple[tuple[int, ...], Apart, bool]

#: The name and the items of a group.
LinkedGroup = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Link:
    """The parts of a view that a link has; None means the default."""

    data: str | None = None
    similarity: str | None = None
    method: str | None = None
    seed: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    constraints: tuple[LinkedConstraint, ...] = ()
    scaling: str | None = None  # of the features, for the method
    missing: str | None = None
    matrix: str | None = None
    heat: str | None = None  # the heatmap's scaling
    columns: str | None = None
    heights: str | None = None
    support: str | None = None
    unsure: str | None = None  # how uncertain splits are drawn
    below: int | None = None  # the support (%) below which a split is uncertain
    colour: str | None = None
    clusters: int | None = None
    chosen: tuple[int, ...] = ()  # the number of each item's cluster, chosen by hand
    level: str | None = None  # to what the picture is collapsed
    groups: tuple[LinkedGroup, ...] = ()


#: Chosen clusters of more items are left out of a link.
MAX_CHOSEN = 2_000
#: Named groups of more items and letters together are left out of a link.
MAX_GROUPS = 2_000

#: What a constraint in a link says about its items instead of naming others.
_CLADE_SIGNS: dict[Apart, str] = {EVERYTHING_ELSE: "*", NOT_A_GROUP: "!"}
_CLADE_MEANINGS = {sign: apart for apart, sign in _CLADE_SIGNS.items()}

_TEXTS = (
    "data", "similarity", "method", "scaling", "missing", "matrix", "heat", "columns", "heights",
    "support", "unsure", "colour", "level",
)  # fmt: skip


def to_query(link: Link) -> str:
    """Return the query string of a link, such as ``data=zoo&method=ddt``.

    The group {3, 7} apart from item 20 is written ``3.7-20``, and ``3.7-20~`` if it is disabled;
    the group {3, 7} apart from everything else ``3.7-*``. The group {3, 7} with the name Owls is
    ``g=3.7 Owls``.
    """
    pairs: list[tuple[str, str]] = []
    for name in (*_TEXTS, "seed", "clusters", "below"):
        value = getattr(link, name)
        if value is not None:
            pairs.append((name, str(value)))
    if link.params:
        pairs.append(("params", json.dumps(dict(link.params), separators=(",", ":"))))
    if link.chosen:
        pairs.append(("chosen", ".".join(map(str, link.chosen))))
    if link.constraints:
        pairs.append(("c", " ".join(_constraint_text(*each) for each in link.constraints)))
    pairs += [("g", f"{'.'.join(map(str, items))} {name}") for name, items in link.groups]
    return urlencode(pairs)


def from_query(query: str | Mapping[str, Iterable[str]]) -> Link:
    """Return the link of a query string.

    Raises :class:`InvalidParameter`, which names the wrong part.
    """
    if isinstance(query, str):
        found: Mapping[str, list[str]] = parse_qs(query.lstrip("?"))
    else:
        found = {name: list(values) for name, values in query.items()}
    single = {name: values[0] for name, values in found.items() if values}
    params: Any = {}
    if "params" in single:
        try:
            params = json.loads(single["params"])
        except (ValueError, RecursionError):  # RecursionError: deeply nested brackets
            params = None
        if not isinstance(params, dict) or not all(map(_is_value, params.values())):
            raise InvalidParameter(
                "The link's 'params' is not a JSON object of numbers, texts and lists of them."
            )
    texts: dict[str, Any] = {name: single.get(name) for name in _TEXTS}
    return Link(
        **texts,
        seed=_whole(single, "seed"),
        params=params,
        constraints=tuple(_constraint(part) for part in single.get("c", "").split()),
        clusters=_whole(single, "clusters"),
        below=_whole(single, "below"),
        chosen=_numbers(single.get("chosen", ""), "chosen"),
        groups=tuple(map(_group, found.get("g", ()))),
    )


def _is_value(value: Any) -> bool:
    """Return True if a parameter can have this value: a plain value or a list of them."""
    inside = value if isinstance(value, list) else [value]
    return all(each is None or isinstance(each, (bool, int, float, str)) for each in inside)


def _constraint_text(group: Iterable[int], apart: Apart, enabled: bool) -> str:
    outside = _CLADE_SIGNS.get(apart) or ".".join(map(str, outsiders(apart)))
    return ".".join(str(item) for item in group) + f"-{outside}" + ("" if enabled else "~")


def _constraint(text: str) -> LinkedConstraint:
    try:
        group, apart = text.removesuffix("~").split("-")
        outside = _CLADE_MEANINGS.get(apart) or as_apart(map(int, apart.split(".")))
        return tuple(int(item) for item in group.split(".")), outside, not text.endswith("~")
    except ValueError:
        raise InvalidParameter(
            f"The link's constraint {shorten(text, 40)!r} cannot be read."
        ) from None


def _group(text: str) -> LinkedGroup:
    items, _, name = text.partition(" ")
    members = _numbers(items, "g")
    if not members or not name.strip():
        raise InvalidParameter("The link's 'g' must be the items and the name of a group.")
    return name.strip(), members


def _numbers(text: str, what: str) -> tuple[int, ...]:
    """Return the numbers of a text such as ``1.1.2``."""
    parts = text.split(".") if text else []
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise InvalidParameter(
            f"The link's {what!r} must be whole numbers with points between, one for each item."
        )
    return tuple(map(int, parts))


def _whole(single: Mapping[str, str], name: str) -> int | None:
    if name not in single:
        return None
    try:
        value = int(single[name])
    except ValueError:
        value = -1
    if not 0 <= value < LARGEST:
        shown = shorten(single[name], 40)
        raise InvalidParameter(f"The link's {name} must be a whole number, not {shown!r}.")
    return value


def link_of(session: Session, view: ViewState) -> Link:
    """Return the link to a view: what differs from the defaults, and the constraints.

    Constraints of several authors on the same items are one, enabled if any of them is. New items
    that were added to the data are left out.
    """
    enabled: dict[Statement, bool] = {}
    n = session.n_items - session.data.n_added
    for each in session.constraints:
        group = tuple(sorted(item for item in each.group if item < n))
        apart = as_apart(item for item in each.outsiders if item < n)
        if each.is_not_group and len(group) < len(each.group):
            continue  # about fewer items it would say something else
        if len(group) > 1 and (not each.outsiders or apart != ()):
            key = (group, apart if each.outsiders else each.apart)
            enabled[key] = enabled.get(key, False) or each.enabled
    data, plain = DataSpec(), ViewState()
    return Link(
        data=session.data.name,
        similarity=session.data.similarity,
        method=session.method,
        seed=session.seed,
        params=dict(session.params),
        constraints=tuple((group, apart, on) for (group, apart), on in enabled.items()),
        scaling=_not_default(session.data.scaling, data.scaling),
        missing=_not_default(session.data.missing, data.missing),
        matrix=view.matrix,
        heat=_not_default(view.scaling, plain.scaling),
        columns=_not_default(view.columns, plain.columns),
        heights=_not_default(view.heights, plain.heights),
        support=_not_default(view.support, plain.support),
        unsure=_not_default(view.unsure, plain.unsure),
        below=None if view.below == plain.below else view.below,
        colour=_not_default(view.colour, plain.colour),
        clusters=view.clusters,
        chosen=_chosen(session),
        groups=_groups(session, n),
        level=None if view.level in (ALL, BY_HAND) else view.level,
    )


def _chosen(session: Session) -> tuple[int, ...]:
    chosen = session.chosen_clusters
    return (
        ()
        if chosen is None or session.n_items > MAX_CHOSEN
        else chosen.of_item[: session.n_items - session.data.n_added]
    )


def _groups(session: Session, n_items: int) -> tuple[LinkedGroup, ...]:
    """Return the named groups without new items; none if they would make a long link."""
    found = [
        (each.name, tuple(item for item in each.members if item < n_items))
        for each in session.groups
    ]
    found = [(name, items) for name, items in found if items]
    size = sum(len(name) + len(items) for name, items in found)
    return tuple(found) if size <= MAX_GROUPS else ()


def _not_default(value: str, default: str) -> str | None:
    return None if value == default else value
