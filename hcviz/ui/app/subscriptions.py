"""Who is told of what the store holds, and how often while trees of a run stream in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hcviz.ui.state.store import Store
from hcviz.ui.state.subscribers import same

#: Seconds between two looks at the numbers of a run: nobody reads faster.
LIVE = 0.15
#: The same for what is more work: sheets and the inspector's sections.
UNHURRIED = 0.5


def everything(store: Store) -> Any:
    """Return what most parts depend on."""
    return (store.session, store.view, store.dataset)


def draw(
    store: Store,
    part: Any,
    name: str,
    picture: Callable[[Store], dict[str, Any]],
    pace: float = 0.0,
    sees: Callable[[Store], Any] = everything,
) -> None:
    """Redraw a part when what it shows (plain JSON) changes."""

    def changed(_: Any) -> None:
        now = picture(store)
        if getattr(part, name) != now:
            setattr(part, name, now)

    watch(store, sees, changed, pace)


def watch(
    store: Store, select: Callable[[Store], Any], call: Callable[[Any], None], pace: float
) -> None:
    """Subscribe; while only trees of a run come, call every ``pace`` seconds at most.

    What came too soon is shown at the first word from the run after that time, or when it rests:
    its last tree is always shown, though nothing but its status changes afterwards.
    """
    state: Any = None
    shown: Any = object()
    last = 0.0

    def in_time() -> bool:
        return store.still or time.monotonic() - last >= pace

    def sees(_: Store) -> Any:
        what = select(store)
        return what, in_time() and not same(shown, what)

    def now_and_then(seen: Any) -> None:
        nonlocal state, shown, last
        what, _ = seen
        before, state = state, (store.session.run, store.still, len(store.session.log), store.view)
        if same(shown, what) or (state == before and not in_time()):
            return
        shown, last = what, time.monotonic()
        call(what)

    store.subscribe(sees, now_and_then)
