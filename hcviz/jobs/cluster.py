"""A crew of Dask workers for the active methods: ``hcviz run METHOD DATA --scheduler tcp://...``.

The one place that knows Dask (the extra ``hcviz[distributed]``). The recursion itself runs here;
its placements are sharded over the workers, and sets of up to 20,000 items are divided to their
leaves by one of them. Tasks are pure and seeds follow from paths, so a task whose worker died is
done again elsewhere, and the tree is the same, bit for bit, as without a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from hcviz.algorithms import generator, get
from hcviz.algorithms.active.framework import ActiveCluster
from hcviz.algorithms.active.growth import finished, tallied
from hcviz.algorithms.active.methods import ACTIVE, described
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.lazy import oracle_of
from hcviz.core.oracle import CountingOracle
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot


class Workers:
    """A crew (:class:`hcviz.algorithms.active.crew.Crew`) of the workers of a Dask client."""

    def __init__(self, client: Any, oracle: Any) -> None:
        self._executor = client.get_executor(pure=False)
        # To every worker once, rather than with every task; and it survives any one of them.
        self._oracle = client.scatter(oracle, broadcast=True, hash=False)

    def tally(self, oracle: Any, *given: Any) -> Future[Any]:
        found: Future[Any] = self._executor.submit(elsewhere, tallied, self._oracle, *given)
        return found

    def finish(self, oracle: Any, *given: Any) -> Future[Any]:
        found: Future[Any] = self._executor.submit(elsewhere, finished, self._oracle, *given)
        return found

    def collect(self, future: Future[Any], oracle: Any) -> Any:
        result, log = future.result()
        oracle.absorb(log)
        return result

    def close(self) -> None:
        self._executor.shutdown(wait=False)


def elsewhere(task: Callable[..., Any], oracle: Any, *given: Any) -> tuple[Any, Any]:
    """What a worker does: the task, and what it asked the oracle."""
    counted = CountingOracle(oracle, cache=0)
    return task(counted, *given), counted.log


def grow_on(
    client: Any, made: ActiveCluster, oracle: Any, seed: int = 0, triplets: Any = None
) -> Iterator[Snapshot | None]:
    """:meth:`ActiveCluster.grow` with the workers of a Dask client; the same tree."""
    return made.grow(oracle, seed, triplets, crew=Workers(client, oracle))


def run_on(
    address: str, name: str, problem: Problem, *, seed: int = 0, **params: Any
) -> Iterator[Snapshot]:
    """:func:`hcviz.run` of an active method on the workers of the Dask scheduler at ``address``.

    Raises :class:`InvalidParameter` for other methods, and where nobody answers at the address.
    """
    method = get(name)
    if name not in ACTIVE:
        raise InvalidParameter(
            f"{name} does not run on a cluster.", f"Those that do: {', '.join(ACTIVE)}."
        )
    given = method.parameters(**params)
    fault = method.lacks(problem)
    if fault:
        raise InvalidData(fault)
    client = connected(address)
    stream = grow_on(
        client, described(name, given), oracle_of(problem), drawn_seed(seed), problem.triplets
    )
    return _shown(client, stream)


def drawn_seed(seed: int) -> int:
    """The framework's seed in run 0 of a session: what the methods draw first."""
    return int(generator(seed).integers(2**63))


def connected(address: str) -> Any:
    """A Dask client of the scheduler at ``address``."""
    try:
        from distributed import Client

        make: Any = Client
    except ImportError:
        raise HcvizError(
            "A cluster needs the package distributed, which is not installed.",
            "pip install hcviz[distributed]",
        ) from None
    try:
        return make(address, timeout="5s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as fault:
        raise InvalidParameter(
            f"No Dask scheduler answers at {address} ({type(fault).__name__}).",
            "Give its address, as in tcp://127.0.0.1:8786.",
        ) from None


def _shown(client: Any, stream: Iterator[Snapshot | None]) -> Iterator[Snapshot]:
    try:
        yield from (snapshot for snapshot in stream if snapshot is not None)
    finally:
        client.close()


__all__ = ["Workers", "grow_on", "run_on"]
