"""A session's surroundings for tests: a deterministic method, its state, and a driver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hcviz import Snapshot, Tree, Triplets
from hcviz.algorithms import get
from hcviz.core.build import build
from hcviz.core.snapshot import Series
from hcviz.core.state import register_state
from hcviz.session import actions as act
from hcviz.session.effects import CancelRun, StartRun
from hcviz.session.model import DataSpec, Session
from hcviz.session.update import update
from tests.unconstrained import NAME

ANIMALS = ("bat", "whale", "lion", "trout", "pike", "wasp", "crow", "newt")


@register_state
@dataclass(frozen=True, eq=False)
class FakeState:
    """A sampler's state in small: some times and a generator's counter."""

    times: np.ndarray
    draws: int

    def to_arrays(self):
        return {"times": self.times, "draws": np.int64(self.draws)}

    @classmethod
    def from_arrays(cls, arrays):
        return cls(arrays["times"], int(arrays["draws"]))


def some_tree(n: int, triplets, rng: np.random.Generator) -> Tree:
    """A tree that satisfies the triplets, with heights of its own."""
    tree = build(n, triplets)
    height = np.zeros(tree.n_nodes)
    for v in range(n, tree.n_nodes):
        height[v] = max(height[c] for c in tree.children(v)) + rng.exponential()
    return Tree(tree.parent, height, n)


def run_fake(spec: DataSpec, effect: StartRun, n: int, steps: int = 4) -> Iterator[Snapshot]:
    """What a runner would stream: the same for the same seed, run, triplets and start."""
    rng = np.random.default_rng(np.random.SeedSequence((effect.seed, effect.run)))
    state = getattr(effect.start, "state", None)
    draws = state.draws if isinstance(state, FakeState) else 0
    triplets = Triplets() if effect.method == NAME else effect.triplets
    for step in range(1, steps + 1):
        tree = some_tree(n, triplets, rng)
        draws += 1
        yield Snapshot(
            tree,
            step,
            steps,
            metrics={"log density": float(rng.normal()) - draws},
            state=FakeState(tree.height.copy(), draws),
            views={"trace": Series(np.arange(3.0), rng.normal(size=3), "step", "value")},
            matrices={"seen": rng.normal(size=(n, n))} if step == steps else {},
        )


class Driver:
    """Dispatches like the Store, with runs that advance only on request."""

    def __init__(self, labels=ANIMALS, **fields) -> None:
        self.session = Session(**fields)
        self.effects: tuple = ()
        self.stream: Iterator[Snapshot] = iter(())
        self.started: list[StartRun] = []
        self.cancelled: list[int] = []
        if labels:
            self(act.LoadedData(DataSpec(), tuple(labels)))

    def __call__(self, action: act.Action) -> Session:
        self.session, self.effects = update(self.session, action, get)
        for effect in self.effects:
            if isinstance(effect, StartRun):
                self.started.append(effect)
                self.stream = run_fake(self.session.data, effect, self.session.n_items)
            elif isinstance(effect, CancelRun):
                self.cancelled.append(effect.run)
        return self.session

    def go(self, snapshots: int = 1) -> Session:
        """Let the newest run deliver this many snapshots."""
        for _ in range(snapshots):
            snapshot = next(self.stream, None)
            if snapshot is None:
                return self(act.Finished(self.session.run))
            self(act.Arrived(self.session.run, snapshot))
        return self.session

    def settle(self) -> Session:
        while self.session.status == "sampling":
            self.go()
        return self.session

    @property
    def start(self) -> StartRun | None:
        return next((e for e in self.effects if isinstance(e, StartRun)), None)


__all__ = ["ANIMALS", "Driver", "FakeState", "run_fake", "some_tree"]
