"""From a ``DataSpec`` to the data it speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from hcviz import datasets
from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.comparison.similarities import adds
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.oracle import CountingOracle
from hcviz.core.problem import ComparisonOracle, Problem, SimilarityOracle
from hcviz.core.seriation import seriation
from hcviz.core.snapshot import Matrix, Snapshot
from hcviz.datasets import Dataset
from hcviz.io.answers import how_many, with_answers
from hcviz.io.rawtable import SEPARATORS
from hcviz.io.tables import read_table
from hcviz.io.unpacking import unpacked_size
from hcviz.session.model import Checkpoint, DataSpec, Session

#: Data handed to ``hcviz.explore`` by a notebook, by the name their session knows them under; kept
#: by the explorers that show them, and by whoever gave them, not here.
GIVEN: WeakValueDictionary[str, Dataset] = WeakValueDictionary()

#: Larger files (bytes) are read beside the page, and those of more columns: each of these takes a
#: third of a millisecond.
AT_ONCE = 500_000
COLUMNS_AT_ONCE = 600

#: Answers in an attached file, by the hash and the length of its content.
_counts: dict[tuple[int, int], int] = {}


@dataclass(frozen=True, eq=False)
class Offered:
    """What the server was started with, read once for all its pages."""

    spec: DataSpec
    data: Dataset
    session: Session | None = None

    @property
    def title(self) -> str:
        """What the data menu calls it."""
        spec = self.spec
        name = datasets.title(spec.name) if spec.kind == "built-in" else spec.filename or spec.name
        return " + ".join([name, *(filename for filename, _ in spec.answers)])


_offered: list[Offered] = []


def offer(opening: DataSpec | Session | None) -> None:
    """Read what all pages are to begin with, and keep it; None: nothing any more.

    Nothing else of this machine can be opened from a page, whatever its address says. Raises what
    :func:`resolve` does, and :class:`HcvizError` where a session does not fit its data.
    """
    _offered.clear()
    if isinstance(opening, Session):
        _offered.append(Offered(opening.data, data_of(opening), opening))
    elif opening is not None:
        _offered.append(Offered(opening, resolve(opening)))


def offered() -> Offered | None:
    """What pages begin with, where the server was told."""
    return _offered[0] if _offered else None


def data_of(session: Session) -> Dataset:
    """The data of a session that was saved.

    Raises :class:`HcvizError` where its items are others now, or its parameters are not those of
    its methods.
    """
    check_parameters(session)
    dataset = resolve(session.data)
    if tuple(dataset.labels) != tuple(session.labels):
        raise HcvizError(
            f"The session was made with other items than {session.data.name!r} has now.",
            "Open the table it was made with.",
        )
    return dataset


def check_parameters(session: Session) -> None:
    """Raise :class:`InvalidParameter` for a parameter that its method does not take, now or in a
    step that can be undone or redone."""
    moments: list[Session | Checkpoint] = [session, *session.past, *session.future]
    for moment in moments:
        for method, params in {**moment.other_params, moment.method: moment.params}.items():
            get_algorithm(method).parameters(**params)


def resolve(spec: DataSpec) -> Dataset:
    """Load what ``spec`` names. Raises :class:`InvalidData` (or a table's own sentence)."""
    begun = offered()
    if begun is not None and begun.spec.has_same_data(spec):
        return begun.data
    found = _of_itself(spec)
    for filename, content in spec.answers:
        before = found
        found = with_answers(found, content, filename)
        more = sum((found.asked or {}).values()) - sum((before.asked or {}).values())
        _counts[hash(content), len(content)] = more
    return found


def answers_in(content: bytes) -> int:
    """How many answers an attached file holds; read once (a bytes object keeps its hash)."""
    key = hash(content), len(content)
    if key not in _counts:
        _counts[key] = how_many(content)
    return _counts[key]


def takes_long(spec: DataSpec) -> bool:
    """Whether to read this takes longer than a page may wait."""
    return size_of(spec) > AT_ONCE or _width(spec.content or b"") > COLUMNS_AT_ONCE


def _width(content: bytes) -> int:
    """The columns of a table as text, by the separators in its first line."""
    first = content[:AT_ONCE].lstrip(b"\r\n").split(b"\n", 1)[0]
    return 1 + max(first.count(separator.encode()) for separator in SEPARATORS)


def size_of(spec: DataSpec) -> int:
    """The bytes to be read for it, unpacked, with the files of answers beside it."""
    return unpacked_size(spec.content or b"") + sum(len(each) for _, each in spec.answers)


def _of_itself(spec: DataSpec) -> Dataset:
    if spec.kind == "built-in":
        return built_in(spec.name)
    if spec.kind == "given":
        given = GIVEN.get(spec.name)
        if given is None:
            raise InvalidData(
                f"The data {spec.name!r} was given by a notebook that is not running here.",
                "Open it there with hcviz.explore(...).",
            )
        return given
    if spec.content is None:
        raise InvalidData(f"The table {spec.filename!r} is not in the session file.")
    return read_table(spec.content, spec.filename, kind=spec.table_kind)


@lru_cache(maxsize=16)
def built_in(name: str) -> Dataset:
    """A built-in data set; loaded once per server, since it is frozen."""
    return datasets.load(name)


def keeping(problem: Problem, before: Problem | None) -> Problem:
    """The problem with an oracle that keeps its answers, for all runs and pictures together, where
    to ask is dear; the one of ``before`` if it asks the same.

    Not where a picture may ask for thousands by itself (``pictures``, ``all_at_once``), nor where
    the oracle also compares, which what keeps the answers does not.
    """
    oracle = problem.oracle
    easy = any(getattr(oracle, name, False) for name in ("cheap", "pictures", "all_at_once"))
    if easy or not isinstance(oracle, SimilarityOracle) or isinstance(oracle, ComparisonOracle):
        return problem
    kept = None if before is None else before.oracle
    same = isinstance(kept, CountingOracle) and kept.oracle is oracle
    return problem.with_oracle(kept if same else CountingOracle(oracle))


def to_look_at(oracle: Any) -> Any:
    """What pictures are made of: of an oracle that keeps its answers these, so that nobody waits
    for a picture's questions; of one that only counts the oracle itself, so that these do not."""
    while isinstance(oracle, CountingOracle):
        if oracle.cache:
            return oracle.known
        oracle = oracle.oracle
    return oracle


def item_matrices(snapshot: Snapshot) -> dict[str, Any]:
    """What the heatmap can show of a snapshot: its matrices, and its views of that kind."""
    n = snapshot.tree.n_leaves
    views = {
        name: view.values
        for name, view in snapshot.views.items()
        if isinstance(view, Matrix) and view.items and view.values.shape == (n, n)
    }
    return {**views, **snapshot.matrices}


def similarities(problem: Problem, snapshot: Snapshot | None = None) -> dict[str, Any]:
    """What the heatmap can show between items, by the name of its legend, the usual first.

    The problem's own similarity, then those that a run's tree came with; where there is neither,
    what the comparisons add up to (AddS).
    """
    found: dict[str, Any] = {}
    if problem.similarity is not None:
        found["similarity"] = problem.similarity
    elif isinstance(problem.oracle, SimilarityOracle):
        found["similarity"] = to_look_at(problem.oracle)
    if snapshot is not None and snapshot.tree.n_leaves == problem.n_items:
        found |= {name: m for name, m in item_matrices(snapshot).items() if name not in found}
    if not found and problem.comparisons is not None:
        found["AddS"] = adds(problem.n_items, problem.comparisons)
    return found


def seriated(problem: Problem, data: Dataset) -> NDArray[np.int32]:
    """The order of the items that the data suggest: the first tree is drawn as near to it as can
    be."""
    _, matrix = similarity_to_show(problem)
    return seriation(len(data.labels), matrix, data.features)


def similarity_to_show(
    problem: Problem, snapshot: Snapshot | None = None, wanted: str = ""
) -> tuple[str, Any]:
    """Name and matrix of the wanted one of :func:`similarities`, else of the first, else None."""
    found = similarities(problem, snapshot)
    if wanted in found:
        return wanted, found[wanted]
    return next(iter(found.items()), ("similarity", None))
