"""A page that opens while no kernel is compiled; ``tests/test_first_tree.py`` runs this program.

It prints what the page shows before and after an answer, as JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from numba.core import event

from hcviz.jobs import use_plain_kernels_while_compiling
from hcviz.jobs.compiling import COMPILING
from hcviz.jobs.shared_pool import TICK, SharedWorkers
from hcviz.session import actions as act
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.page import show_compiling
from hcviz.ui.features.history.model import state as foot_state
from hcviz.ui.features.supports.model import clade_supports
from hcviz.ui.features.top_bar import model as top_bar
from tests.stores import Loop

#: A mammal and a bird, apart from another mammal.
ANSWER = ("bear", "dove"), "lion"


class Compilations(event.Listener):
    """The kernels that numba compiles in this process."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        """Note a kernel."""
        self.names.append(str(event.data["dispatcher"]))

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def main() -> None:
    """Open the page, and give an answer, while the workers do not become ready."""
    compiled = Compilations()
    event.register("numba:compile", compiled)

    def wait(workers: SharedWorkers, stop: Callable[[], bool]) -> None:
        while not stop():
            time.sleep(TICK)

    SharedWorkers.wait_until_ready = wait  # type: ignore[method-assign]
    loop = Loop()
    with COMPILING.running():
        use_plain_kernels_while_compiling()
        explorer = Explorer(loop.schedule)
        store = explorer.store
        update = show_compiling(store)

        def shown(run: int) -> dict[str, Any]:
            loop.until(lambda: store.session.shown == run and store.drawn is store.session.snapshot)
            update()
            assert store.session.snapshot is not None
            tree = store.session.snapshot.tree
            return {
                "run": store.session.run,
                "step": store.session.snapshot.step,
                "parent": tree.parent.tolist(),
                "message": foot_state(store)["sentence"],
                "status": top_bar.live(store)["text"],
                "supports": clade_supports(store) is not None,
                "drawn": store.drawn is store.session.snapshot,
            }

        found = [shown(0)]
        labels = list(store.session.labels)
        group, apart = ANSWER
        pair = tuple(labels.index(name) for name in group)
        store.dispatch(act.AddConstraint(pair, (labels.index(apart),)))
        found.append(shown(1))
        satisfied = store.session.snapshot.tree  # type: ignore[union-attr]
        top = satisfied.smallest_clade(pair)
        inside = labels.index(apart) in satisfied.leaves(top).tolist()
        store.close()
    print(json.dumps({"shown": found, "satisfied": not inside, "compiled": compiled.names}))


if __name__ == "__main__":
    main()
