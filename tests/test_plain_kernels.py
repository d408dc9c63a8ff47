"""Kernels run as plain Python on threads that prefer it, until the cache has them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hcviz.core import plain_kernels as plain
from hcviz.core.jit import cache_dir, njit


def doubled(values: Any) -> Any:
    """A kernel."""
    return 2 * values


def with_inner() -> Any:
    """A kernel that calls another."""
    inner = njit(doubled)

    @njit
    def outer(values: Any) -> Any:
        return inner(values) + 1

    return outer, inner


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cache_dir.cache_clear()
    yield tmp_path
    cache_dir.cache_clear()


def on_another_thread(call: Callable[[], object]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@pytest.mark.usefixtures("cache")
def test_a_kernel_runs_as_plain_python_until_another_process_has_compiled_it() -> None:
    kernel, values = njit(doubled), np.arange(3.0)
    with plain.plain_kernels():
        assert kernel(values).tolist() == [0.0, 2.0, 4.0]
        assert not kernel.signatures
        elsewhere = njit(doubled)  # as another process compiles it
        on_another_thread(lambda: elsewhere(values))
        assert elsewhere.signatures
        assert kernel(values).tolist() == [0.0, 2.0, 4.0]
        assert len(kernel.signatures) == 1
        assert sum(kernel.stats.cache_hits.values()) == 1
        assert kernel(values.astype(np.float32)).dtype == np.float32  # other types are not there
        assert len(kernel.signatures) == 1


@pytest.mark.usefixtures("cache")
def test_other_threads_compile() -> None:
    kernel = njit(doubled)
    with plain.plain_kernels():
        on_another_thread(lambda: kernel(np.arange(3.0)))
    assert kernel.signatures


@pytest.mark.usefixtures("cache")
def test_the_kernels_that_a_plain_kernel_calls_are_plain_too() -> None:
    outer, inner = with_inner()
    with plain.plain_kernels():
        assert outer(np.arange(2.0)).tolist() == [1.0, 3.0]
    assert not outer.signatures
    assert not inner.signatures


@pytest.mark.usefixtures("cache")
def test_large_arrays_are_for_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "MAX_NUMBERS", 10)
    kernel = njit(lambda pair: pair[0].sum() + pair[1].sum())
    with plain.plain_kernels():
        assert kernel((np.ones(5), np.ones(5))) == 10.0
        assert not kernel.signatures
        assert kernel((np.ones(5), np.ones(6))) == 11.0
        assert kernel.signatures


@pytest.mark.usefixtures("cache")
def test_the_preference_ends() -> None:
    compiling = True
    kernel = njit(doubled)
    plain.prefer_plain_kernels(lambda: compiling)
    try:
        kernel(np.arange(3.0))
        assert not kernel.signatures
        compiling = False
        kernel(np.arange(3.0))
        assert kernel.signatures
    finally:
        plain.prefer_plain_kernels(lambda: False)


@pytest.mark.usefixtures("cache")
def test_defaults_and_overflow_are_as_in_compiled_code() -> None:
    @njit
    def mixed(word: Any, times: Any = 3) -> Any:
        return word * np.uint64(2**63 + 1) * np.uint64(times)

    with plain.plain_kernels(), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mixed(np.uint64(7))
    assert not mixed.signatures
    assert int(found) == int(mixed(np.uint64(7)))
