"""Who is told of what the store holds, and how often while trees of a run stream in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hcviz.ui import pictures
from hcviz.ui.store import Store

#: Seconds between two looks at the numbers of a run: nobody reads faster.
LIVE = 0.15
#: The same for what is more work: sheets and the inspector's sections.
UNHURRIED = 0.5


def draw(
    store: Store,
    part: Any,
    name: str,
    picture: Callable[[Store], dict[str, Any]],
    pace: float = 0.0,
) -> None:
    """Redraw a part when what it shows (plain JSON) changes."""

    def changed(_: Any) -> None:
        now = picture(store)
        if getattr(part, name) != now:
            setattr(part, name, now)

    watch(store, pictures.SLICES.get(picture, pictures.everything), changed, pace)


def watch(
    store: Store, select: Callable[[Store], Any], call: Callable[[Any], None], pace: float
) -> None:
    """Subscribe; while only trees of a run come, call every ``pace`` seconds at most."""
    before: tuple[Any, float] = ((), 0.0)

    def now_and_then(what: Any) -> None:
        nonlocal before
        session, now = store.session, time.monotonic()
        state = (session.run, session.status, len(session.log), store.view)
        running = session.status == "sampling" and state == before[0]
        if running and now - before[1] < pace:
            return
        before = (state, now)
        call(what)

    store.subscribe(select, now_and_then)
