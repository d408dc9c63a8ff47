"""``njit`` for this project: releases the GIL, and caches kernels on disk safely.

numba's own cache depends on the file of a function only. So numba loads outdated machine code after
a change of a callee in *another* file. Here each source file has its own cache folder. The folder
name is a hash of the file and of all files of the package that it imports, directly or indirectly.
An edit therefore recompiles exactly the kernels that it can affect. The folder is set only while a
kernel of hcviz is decorated, so numba functions of other packages keep their cache.
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
    """Return the cache folder for the kernels of one source file.

    ``NUMBA_CACHE_DIR`` overrides the parent folder.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_dependencies(Path(source).resolve())):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or str(
        Path(platformdirs.user_cache_dir("hcviz")) / "kernels"
    )
    user = getattr(os, "getuid", int)()
    for parent in (base, os.path.join(tempfile.gettempdir(), f"hcviz-kernels-{user}")):
        folder = os.path.join(parent, f"{Path(source).stem}-{digest.hexdigest()}")
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:  # the home folder is read-only
            continue
        if os.access(folder, os.W_OK):
            return folder
    return folder


def _dependencies(source: Path) -> set[Path]:
    """Return the file and all files of the package that it imports, directly or indirectly."""
    found, waiting = {source}, [source]
    while waiting:
        for path in imported_files(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return {path for path in found if path.is_relative_to(PACKAGE)}


@cache
def imported_files(source: Path) -> tuple[Path, ...]:
    """Return the files of the package that a file imports."""
    names: list[str] = []
    for base, parts, plain in _IMPORT.findall(source.read_text(encoding="utf-8")):
        names.append(base or plain)
        names += [f"{base}.{part}" for part in re.findall(r"\w+", parts)]
    return tuple(path for name in names if (path := _file(name)) is not None)


def _file(name: str) -> Path | None:
    """Return the file of a dotted module name, or None outside the package."""
    parts = name.split(".")
    stem = PACKAGE.joinpath(*(parts[1:] if parts[0] == PACKAGE.name else parts))
    return next((p for p in (stem.with_suffix(".py"), stem / "__init__.py") if p.is_file()), None)


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorate a kernel with ``numba.njit(nogil=True, cache=True)`` and the cache folder above."""

    def decorate(kernel: Callable[..., Any]) -> Any:
        before = config.CACHE_DIR
        config.CACHE_DIR = cache_dir(kernel.__code__.co_filename)
        try:
            return numba.njit(nogil=True, cache=True, **options)(kernel)
        finally:
            config.CACHE_DIR = before

    return decorate if function is None else decorate(function)


def compile_for(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """Compile ``kernel`` for the types of ``arguments``, and return the compiled function.

    The returned function skips numba's dispatch by type, which takes about 10 microseconds if an
    argument is a random generator. Later calls must use the same types. If the compiler is
    disabled, ``kernel`` itself is returned.
    """
    if not hasattr(kernel, "get_overload"):
        return cast(Callable[..., Any], kernel)
    types = tuple(numba.typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
    kernel.compile(types)
    return cast(Callable[..., Any], kernel.get_overload(types))
