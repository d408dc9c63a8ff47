"""Make the lessons in data/lessons: ``python -m tools.make_lessons [FOLDER]``.

A lesson is a session file in which all steps are undone, so that the page can redo them one by one.
Each step is an answer of a simulated user. Ten answers are tried, and the one whose tree is nearest
to the target is kept. The seed is in ``LESSONS`` and in the file. Times are empty, so the same code
makes the same file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from hcviz import datasets
from hcviz.algorithms import generator
from hcviz.algorithms import get as get_algorithm
from hcviz.core.snapshot import Snapshot
from hcviz.datasets import SimulatedUser
from hcviz.datasets.loaders import data_folder
from hcviz.io.session_file import save_session
from hcviz.metrics import triplet_distance
from hcviz.session import actions as act
from hcviz.session.effects import StartRun
from hcviz.session.model import DataSpec, Session
from hcviz.session.update import update

#: Data -> seed and number of steps.
LESSONS: dict[str, tuple[int, int]] = {"zoo": (2, 10), "glass": (3, 8)}
#: Number of answers tried for each step.
TRIED = 10
AUTHOR = "the lesson"


def run_method(spec: DataSpec, effect: StartRun) -> Iterator[Snapshot | None]:
    """Yield the snapshots of a run, like the runner of the page."""
    problem = datasets.load(spec.name).problem(
        similarity=spec.similarity, scaling=spec.scaling, missing=spec.missing
    )
    method = get_algorithm(effect.method)
    return method.start_run(
        problem.with_triplets(effect.triplets),
        method.parameters(**dict(effect.params)),
        generator(effect.seed, effect.run),
        effect.start,
    )


def do(session: Session, action: act.Action) -> Session:
    """Return the session after the action and its run."""
    session, effects = update(session, action, get_algorithm)
    for effect in effects:
        if isinstance(effect, StartRun):
            drawn = [each for each in run_method(session.data, effect) if each is not None]
            session, _ = update(session, act.Arrived(effect.run, drawn[-1], time=""), get_algorithm)
            session, _ = update(session, act.Finished(effect.run, time=""), get_algorithm)
    return session


def make(data: str, seed: int, steps: int, tried: int = TRIED) -> Session:
    """Return the lesson, a session with all steps undone."""
    dataset = datasets.load(data)
    target = dataset.target
    assert target is not None, f"{data} has no target tree"
    user = SimulatedUser(target, seed=seed)
    session = do(
        Session(method="ddt", constraint_mode="hard", seed=seed),
        act.LoadedData(DataSpec(name=data), dataset.labels, time=""),
    )
    for _ in range(steps):
        rows = {user.answer(session.tree) for _ in range(tried)} - {None}
        candidates = [
            do(session, act.AddConstraint((row[0], row[1]), row[2], author=AUTHOR, time=""))
            for row in sorted(rows)
        ]
        if not candidates:
            break
        session = min(candidates, key=lambda each: triplet_distance(target, each.tree))
    while session.past:
        session, _ = update(session, act.Undo(time=""), get_algorithm)
    return session


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for data, (seed, steps) in LESSONS.items():
        path = folder / f"{data}.hcviz"
        path.write_bytes(save_session(make(data, seed, steps)))
        print(f"{path}: seed {seed}, {path.stat().st_size / 1024:,.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else data_folder() / "lessons")
