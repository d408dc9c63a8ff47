"""``njit`` for this project: no GIL, cached on disk, and never served a stale kernel.

numba keys its cache by the file a function is written in, so a kernel whose callee in *another*
file changed is loaded from the old machine code. Here the cache folder's name is a hash of all the
package's sources; it is set only while our own functions are decorated, so that nobody else's
numba code is moved.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import platformdirs

config: Any = numba.config


PACKAGE = Path(__file__).resolve().parent.parent


@cache
def cache_dir() -> str:
    """The folder of this version's compiled kernels (``NUMBA_CACHE_DIR`` moves its parent)."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(PACKAGE.rglob("*.py")):
        text = source.read_bytes()
        if b"njit" in text:
            digest.update(source.relative_to(PACKAGE).as_posix().encode() + b"\0" + text)
    base = os.environ.get("NUMBA_CACHE_DIR") or str(
        Path(platformdirs.user_cache_dir("hcviz")) / "kernels"
    )
    whose = getattr(os, "getuid", int)()
    for parent in (base, os.path.join(tempfile.gettempdir(), f"hcviz-kernels-{whose}")):
        folder = os.path.join(parent, digest.hexdigest())
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:  # a read-only home
            continue
        if os.access(folder, os.W_OK):
            return folder
    return folder


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``numba.njit(nogil=True, cache=True)`` with the cache folder above; use as a decorator."""

    def decorate(kernel: Callable[..., Any]) -> Any:
        before = config.CACHE_DIR
        config.CACHE_DIR = cache_dir()
        try:
            return numba.njit(nogil=True, cache=True, **options)(kernel)
        finally:
            config.CACHE_DIR = before

    return decorate if function is None else decorate(function)
