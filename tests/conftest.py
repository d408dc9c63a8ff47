"""What every test may use."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.clock import Clock
from tests.tiers import mark_slow

if TYPE_CHECKING:
    from tests.sessions import Driver
    from tests.stores import Loop

ROOT = Path(__file__).resolve().parent.parent

# Nothing is timed: a first example pays for the compiler, and the machine may be busy. In CI the
# examples are the same every time.
settings.register_profile(
    "here", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


# Unfinished sessions of the pages that tests open; no test reads another's.
os.environ["HCVIZ_STATE"] = str(ROOT / "tests" / "artifacts" / "state")


# A sampler's run on a page makes a fixed number of steps, unless a test says otherwise.
os.environ["HCVIZ_SECONDS"] = "0"


# Servers of the tests have no worker process in reserve and one for samplers: each costs five
# processor seconds.
os.environ["HCVIZ_SPARES"], os.environ["HCVIZ_WORKERS"] = "0", "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_slow(items)


def pytest_collection_finish() -> None:
    """Exempt the ten thousand tests from each later garbage collection: a fifth of the CPU time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the real data that is not in the repository (HCVIZ_DATA names another)."""
    folder = Path(os.environ.get("HCVIZ_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.fail(f"The real data should be at {folder}; set HCVIZ_DATA to where it is.")
    return folder


@pytest.fixture
def settled() -> Driver:
    """A session over eight animals whose first run is over."""
    from tests.sessions import Driver

    driver = Driver()
    driver.settle()
    return driver


@pytest.fixture
def unconstrained(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a method in the registry that ignores constraints."""
    from hcviz.algorithms import MODULES
    from tests.unconstrained import NAME

    monkeypatch.setitem(MODULES, NAME, "tests.unconstrained")
    return NAME


@pytest.fixture
def loop() -> Loop:
    """The document's thread, run by hand."""
    from tests.stores import Loop

    return Loop()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Dask scheduler in this process, and two worker processes; a killed one is replaced.

    However long that takes: a nanny whose worker is not back within 15 seconds, Dask's usual, would
    be closed for good, and a busy machine can take longer.
    """
    import dask
    from distributed import LocalCluster

    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with patience, LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        host="127.0.0.1", silence_logs=50,
    ) as made:  # fmt: skip
        yield made


@pytest.fixture
def clock() -> Clock:
    """A clock that shows the time that the test sets."""
    return Clock()
