"""What a section is: a piece of the inspector below the facts of the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hcviz.ui.parts.actions import Actions, no_act
from hcviz.ui.state.store import Store


@dataclass(frozen=True)
class Section:
    """``picture(store)`` is plain JSON, or None where there is nothing to show.

    It is made whenever ``sees(store)``, the slice it depends on, changes, and drawn by
    ``SECTIONS.<name> = (state, send) => [elements]`` in ``assets/sections/<name>.js``, whose style
    is beside it. ``act(actions, name, more)`` gets what the script sends.
    """

    name: str
    picture: Callable[[Store], dict[str, Any] | None]
    sees: Callable[[Store], Any]
    act: Callable[[Actions, str, dict[str, Any]], None] = no_act
