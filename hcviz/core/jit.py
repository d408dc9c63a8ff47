"""``njit`` for this project: no GIL, cached on disk, and never served a stale kernel.

numba keys its cache by the file a function is written in, so a kernel whose callee in *another*
file changed is loaded from the old machine code. Here each file's kernels have a cache folder whose
name is a hash of that file and of all it imports from the package, at any remove: an edit moves the
kernels that it can have changed, and no others. The folder is set only while our own functions are
decorated, so that nobody else's numba code is moved.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import numba
import platformdirs

config: Any = numba.config


PACKAGE = Path(__file__).resolve().parent.parent


#: ``from a.b import c, d`` (in brackets or not) or ``import a.b``.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.M
)


@cache
def cache_dir(source: str) -> str:
    """The folder of one file's compiled kernels (``NUMBA_CACHE_DIR`` moves its parent)."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_reachable(Path(source).resolve())):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or str(
        Path(platformdirs.user_cache_dir("hcviz")) / "kernels"
    )
    whose = getattr(os, "getuid", int)()
    for parent in (base, os.path.join(tempfile.gettempdir(), f"hcviz-kernels-{whose}")):
        folder = os.path.join(parent, f"{Path(source).stem}-{digest.hexdigest()}")
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:  # a read-only home
            continue
        if os.access(folder, os.W_OK):
            return folder
    return folder


def _reachable(source: Path) -> set[Path]:
    """The file and all files of the package that it imports, directly or not."""
    found, waiting = {source}, [source]
    while waiting:
        for path in _imported(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return {path for path in found if path.is_relative_to(PACKAGE)}


@cache
def _imported(source: Path) -> tuple[Path, ...]:
    names: list[str] = []
    for base, parts, plain in _IMPORT.findall(source.read_text(encoding="utf-8")):
        names.append(base or plain)
        names += [f"{base}.{part}" for part in re.findall(r"\w+", parts)]
    return tuple(path for name in names if (path := _file(name)) is not None)


def _file(name: str) -> Path | None:
    """The package's file of this dotted name, if it is one."""
    parts = name.split(".")
    stem = PACKAGE.joinpath(*(parts[1:] if parts[0] == PACKAGE.name else parts))
    return next((p for p in (stem.with_suffix(".py"), stem / "__init__.py") if p.is_file()), None)


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``numba.njit(nogil=True, cache=True)`` with the cache folder above; use as a decorator."""

    def decorate(kernel: Callable[..., Any]) -> Any:
        before = config.CACHE_DIR
        config.CACHE_DIR = cache_dir(kernel.__code__.co_filename)
        try:
            return numba.njit(nogil=True, cache=True, **options)(kernel)
        finally:
            config.CACHE_DIR = before

    return decorate if function is None else decorate(function)


def direct(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """``kernel`` compiled for the types of ``arguments``, without the look-up of types.

    The look-up takes some 10 us a call where an argument is a random generator. Every later call
    must give arguments of the same types. With the compiler off it is ``kernel`` itself.
    """
    if not hasattr(kernel, "get_overload"):
        return cast(Callable[..., Any], kernel)
    types = tuple(numba.typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
    kernel.compile(types)
    return cast(Callable[..., Any], kernel.get_overload(types))
