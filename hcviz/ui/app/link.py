"""The view as a URL: what another person needs to see the same, in the query string.

Only built-in data can travel this way; items are named by their indices, since names may be long.
Of constraints it carries what they say and whether they are switched on. Their notes, authors,
weights and times stay out: a link is handed on lightly, and notes may be meant for oneself. A
session file holds them, and the undo stack.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from hcviz.core.errors import InvalidParameter
from hcviz.session.constraint import DataSpec
from hcviz.session.model import Session, Statement
from hcviz.ui.state.view_state import ViewState

#: Whole numbers in a link are smaller.
LARGEST = 2**63

#: A group, the item it stands apart from, and whether that is switched on.
Said = tuple[tuple[int, ...], int, bool]


@dataclass(frozen=True)
class Link:
    """The parts of a view that a URL carries; None means "as usual"."""

    data: str | None = None
    similarity: str | None = None
    method: str | None = None
    seed: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    constraints: tuple[Said, ...] = ()
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


_TEXTS = (
    "data", "similarity", "method", "scaling", "missing", "matrix", "heat", "columns", "heights",
    "support", "unsure", "colour",
)  # fmt: skip


def to_query(link: Link) -> str:
    """``data=zoo&method=ddt&...``; a group {3, 7} apart from 20 is written ``3.7-20``, and
    ``3.7-20~`` where it is switched off."""
    pairs: list[tuple[str, str]] = []
    for name in (*_TEXTS, "seed", "clusters", "below"):
        value = getattr(link, name)
        if value is not None:
            pairs.append((name, str(value)))
    if link.params:
        pairs.append(("params", json.dumps(dict(link.params), separators=(",", ":"))))
    if link.constraints:
        pairs.append(("c", " ".join(_written(*each) for each in link.constraints)))
    return urlencode(pairs)


def from_query(query: str | Mapping[str, Iterable[str]]) -> Link:
    """The other way. Raises :class:`InvalidParameter` that names the part that is wrong."""
    if isinstance(query, str):
        found: Mapping[str, list[str]] = parse_qs(query.lstrip("?"))
    else:
        found = {name: list(values) for name, values in query.items()}
    single = {name: values[0] for name, values in found.items() if values}
    params: Any = {}
    if "params" in single:
        try:
            params = json.loads(single["params"])
        except (ValueError, RecursionError):  # the latter where brackets are nested
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
        constraints=tuple(_read(part) for part in single.get("c", "").split()),
        clusters=_whole(single, "clusters"),
        below=_whole(single, "below"),
    )


def _is_value(value: Any) -> bool:
    """Whether it can be a parameter's value: something plain, or a list of that."""
    inside = value if isinstance(value, list) else [value]
    return all(each is None or isinstance(each, (bool, int, float, str)) for each in inside)


def _written(group: Iterable[int], apart: int, enabled: bool) -> str:
    return ".".join(str(item) for item in group) + f"-{apart}" + ("" if enabled else "~")


def _read(text: str) -> Said:
    try:
        group, apart = text.removesuffix("~").split("-")
        return tuple(int(item) for item in group.split(".")), int(apart), not text.endswith("~")
    except ValueError:
        said = text if len(text) <= 40 else f"{text[:39]}…"
        raise InvalidParameter(f"The link's constraint {said!r} cannot be read.") from None


def _whole(single: Mapping[str, str], name: str) -> int | None:
    if name not in single:
        return None
    try:
        value = int(single[name])
    except ValueError:
        value = -1
    if not 0 <= value < LARGEST:
        said = single[name] if len(single[name]) <= 40 else f"{single[name][:39]}…"
        raise InvalidParameter(f"The link's {name} must be a whole number, not {said!r}.")
    return value


def link_of(session: Session, view: ViewState) -> Link:
    """The link to this view: what differs from the usual, and the constraints, each once.

    Authors do not travel: what several say is said once, and is on if one of them is.
    """
    said: dict[Statement, bool] = {}
    for each in session.constraints:
        key = (tuple(sorted(each.group)), each.apart)
        said[key] = said.get(key, False) or each.enabled
    usual, plain = DataSpec(), ViewState()
    return Link(
        data=session.data.name,
        similarity=session.data.similarity,
        method=session.method,
        seed=session.seed,
        params=dict(session.params),
        constraints=tuple((group, apart, on) for (group, apart), on in said.items()),
        scaling=_unusual(session.data.scaling, usual.scaling),
        missing=_unusual(session.data.missing, usual.missing),
        matrix=view.matrix,
        heat=_unusual(view.scaling, plain.scaling),
        columns=_unusual(view.columns, plain.columns),
        heights=_unusual(view.heights, plain.heights),
        support=_unusual(view.support, plain.support),
        unsure=_unusual(view.unsure, plain.unsure),
        below=None if view.below == plain.below else view.below,
        colour=_unusual(view.colour, plain.colour),
        clusters=view.clusters,
    )


def _unusual(value: str, usual: str) -> str | None:
    return None if value == usual else value
