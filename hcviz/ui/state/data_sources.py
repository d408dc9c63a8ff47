"""Load the data that a ``DataSpec`` names."""

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
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.oracle_protocols import ComparisonOracle, SimilarityOracle
from hcviz.core.problem import Problem
from hcviz.core.seriation import seriation
from hcviz.core.snapshot import Matrix, Snapshot
from hcviz.datasets import Dataset
from hcviz.description.item_data import is_cheap
from hcviz.io.added_rows import with_rows
from hcviz.io.answers import count_answers, with_answers
from hcviz.io.rawtable import SEPARATORS
from hcviz.io.tables import read_table
from hcviz.io.unpacking import unpacked_size
from hcviz.session.model import Checkpoint, DataSpec, Session

#: Data that a notebook gave to ``hcviz.explore``, by their name in the session. The pages that show
#: them, and the notebook, keep them alive.
GIVEN: WeakValueDictionary[str, Dataset] = WeakValueDictionary()

#: Files with more bytes or more columns are read on a thread, so that a page waits for about 50 ms
#: at most. A column takes a third of a millisecond.
AT_ONCE = 100_000
COLUMNS_AT_ONCE = 150
#: The same for trees, groups and constraints, which are read by slower functions.
TEXT_AT_ONCE = 30_000

#: Number of answers in an attached file, by the hash and the length of its content.
ANSWER_COUNTS: dict[tuple[int, int], int] = {}


@dataclass(frozen=True, eq=False)
class Offered:
    """The data or session that the server was started with, read once for all pages."""

    spec: DataSpec
    data: Dataset
    session: Session | None = None

    @property
    def title(self) -> str:
        """Its name in the data menu."""
        spec = self.spec
        name = datasets.title(spec.name) if spec.kind == "built-in" else spec.filename or spec.name
        return " + ".join([name, *(filename for filename, _ in spec.answers)])


_offered: list[Offered] = []


def offer(opening: DataSpec | Session | None) -> None:
    """Read and keep what all pages open first; None clears it.

    Pages can open no other file of this machine, whatever their URL says.

    Raises
    ------
    HcvizError
        If the data cannot be read, or a session does not fit its data.
    """
    _offered.clear()
    if isinstance(opening, Session):
        _offered.append(Offered(opening.data, data_of(opening), opening))
    elif opening is not None:
        _offered.append(Offered(opening, resolve(opening)))


def offered() -> Offered | None:
    """Return what pages open first; None if the server was started without data."""
    return _offered[0] if _offered else None


def data_of(session: Session) -> Dataset:
    """Return the data of a saved session.

    Raises :class:`HcvizError` if its items differ from those of the data now, or if its methods do
    not have its parameters.
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
    """Raise :class:`InvalidParameter` if a method of any step does not have its parameters."""
    moments: list[Session | Checkpoint] = [session, *session.past, *session.future]
    for moment in moments:
        for method, params in {**moment.other_params, moment.method: moment.params}.items():
            get_algorithm(method).parameters(**params)


def resolve(spec: DataSpec) -> Dataset:
    """Load the data of ``spec``. Raises :class:`InvalidData`, or the error of its table."""
    offer = offered()
    if offer is not None and offer.spec.has_same_data(spec):
        return offer.data
    found = _of_itself(spec)
    for rows in spec.added:
        found = with_rows(found, rows)
    for filename, content in spec.answers:
        before = found
        found = with_answers(found, content, filename)
        more = sum((found.asked or {}).values()) - sum((before.asked or {}).values())
        ANSWER_COUNTS[hash(content), len(content)] = more
    return found


def answers_in(content: bytes) -> int:
    """Return the number of answers in an attached file, which is read once."""
    key = hash(content), len(content)
    if key not in ANSWER_COUNTS:
        ANSWER_COUNTS[key] = count_answers(content)
    return ANSWER_COUNTS[key]


def takes_long(spec: DataSpec) -> bool:
    """Return True if reading this takes longer than a page should wait."""
    return size_of(spec) > AT_ONCE or _width(spec.content or b"") > COLUMNS_AT_ONCE


def _width(content: bytes) -> int:
    """Return the number of columns of a table as text, by the separators in its first line."""
    first = content[:AT_ONCE].lstrip(b"\r\n").split(b"\n", 1)[0]
    return 1 + max(first.count(separator.encode()) for separator in SEPARATORS)


def size_of(spec: DataSpec) -> int:
    """Return the number of bytes to read, unpacked, with the attached files of answers."""
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
    return read_table(
        spec.content, spec.filename, kind=spec.table_kind, columns=spec.columns, sheet=spec.sheet
    )


@lru_cache(maxsize=16)
def built_in(name: str) -> Dataset:
    """Return a built-in data set, loaded once per server."""
    return datasets.load(name)


def keeping(problem: Problem, before: Problem | None) -> Problem:
    """Return the problem with an oracle that caches its answers for all runs and pictures.

    The cache of ``before`` is kept if its oracle is the same. Three kinds of oracles are not
    cached: cheap ones, those that a picture may query thousands of times (``pictures``,
    ``all_at_once``), and those that also compare.
    """
    oracle = problem.oracle
    similarities_only = isinstance(oracle, SimilarityOracle) and not isinstance(
        oracle, ComparisonOracle
    )
    if is_cheap(oracle) or not similarities_only:
        return problem
    kept = None if before is None else before.oracle
    same = isinstance(kept, CountingOracle) and kept.oracle is oracle
    return problem.with_oracle(kept if same else CountingOracle(oracle))


def to_look_at(oracle: Any) -> Any:
    """Return what pictures read instead of an oracle.

    For an oracle that caches answers these are the cached ones, so that a picture asks nothing. For
    one that only counts, it is the oracle inside, so that a picture's queries are not counted.
    """
    while isinstance(oracle, CountingOracle):
        if oracle.cache:
            return oracle.cached
        oracle = oracle.oracle
    return oracle


def item_matrices(snapshot: Snapshot) -> dict[str, Any]:
    """Return the matrices of a snapshot that the heatmap can show, by name."""
    n = snapshot.tree.n_leaves
    views = {
        name: view.values
        for name, view in snapshot.views.items()
        if isinstance(view, Matrix) and view.items and view.values.shape == (n, n)
    }
    return {**views, **snapshot.matrices}


def similarities(problem: Problem, snapshot: Snapshot | None = None) -> dict[str, Any]:
    """Return the similarities that the heatmap can show, by name, the default first.

    These are the problem's own similarity, then the matrices of a run's snapshot. Without either,
    it is the AddS similarity of the comparisons.
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
    """Return an order of the items, int32 (n,), in which similar items are near each other.

    The first tree is drawn as near to it as possible.
    """
    _, matrix = similarity_to_show(problem)
    return seriation(len(data.labels), matrix, data.features)


def similarity_to_show(
    problem: Problem, snapshot: Snapshot | None = None, wanted: str = ""
) -> tuple[str, Any]:
    """Return name and matrix of the wanted similarity, else of the first; None without any."""
    found = similarities(problem, snapshot)
    if wanted in found:
        return wanted, found[wanted]
    return next(iter(found.items()), ("similarity", None))
