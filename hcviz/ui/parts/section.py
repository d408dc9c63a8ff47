"""``Section``: a piece of the inspector, below the facts of the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store


@dataclass(frozen=True)
class Section:
    """A piece of the inspector, drawn in the browser from plain JSON.

    The script ``section.js`` of the feature's folder defines
    ``SECTIONS.<name> = (state, send) => [elements]``; ``section.css`` is its style.

    Parameters
    ----------
    name : str
        Key of the section's script.
    state : callable
        ``state(store)`` returns plain JSON, or None if there is nothing to show.
    depends_on : callable
        ``depends_on(store)`` returns what ``state`` reads. The page computes the state again when
        this value changes.
    acts : Acts
        The messages of the script. Their handlers get :class:`Actions` as first argument.
    """

    name: str
    state: Callable[[Store], dict[str, Any] | None]
    depends_on: Callable[[Store], Any]
    acts: Acts = field(default_factory=Acts)
