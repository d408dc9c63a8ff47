"""``njit`` for this project: releases the GIL, and caches kernels on disk safely.

numba's own cache depends on the file of a function only. So numba loads outdated machine code after
a change of a callee in *another* file. Here each source file has its own cache folder. The folder
name is a hash of the file and of all files of the package that it imports, directly or indirectly.
An edit therefore recompiles exactly the kernels that it can affect. The folder is set only while a
kernel of hcviz is decorated, so numba functions of other packages keep their cache.

numba unpickles the files of its cache, so another user who can write there can run code. A folder
is used only if it belongs to this user and no other user can write to it. Without such a folder,
or if the disk is full, kernels are compiled in each process.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, cast

import numba
import platformdirs
from numba.core.registry import CPUDispatcher

from hcviz.core.plain_kernels import call_plain, is_called_by_plain, may_run_plain

config: Any = numba.config


PACKAGE = Path(__file__).resolve().parent.parent


#: ``from a.b import c, d`` (in brackets or not) or ``import a.b``.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.M
)
#: A line that decorates a kernel.
_DECORATED = re.compile(r"^@njit\b", re.M)
#: The folder, in that of a source file, of the forms of its kernels that other kernels call.
INNER = "inner"
#: Types of whole numbers that are given to other kernels as 64 bits.
NARROW = {numba.types.int8, numba.types.int16, numba.types.int32}
#: Bits of a folder's mode: its group or all users can write to it.
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

#: Held while the setting of numba's cache folder is that of one kernel.
_DECORATING = threading.Lock()

log = logging.getLogger(__name__)


@cache
def cache_dir(source: str) -> str | None:
    """Return the cache folder for the kernels of one source file, or None if there is none.

    ``NUMBA_CACHE_DIR`` overrides the parent folder. None means that kernels are not kept.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_dependencies(Path(source).resolve())):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    for parent in _parents():
        folder = parent / f"{Path(source).stem}-{digest.hexdigest()}"
        if _make_private(parent) and _make_private(folder, is_leaf=True):
            return str(folder)
    return None


def _parents() -> tuple[Path, Path]:
    """Return the folders in which the cache may be, the preferred one first."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    usual = Path(given) if given else Path(platformdirs.user_cache_dir("hcviz")) / "kernels"
    return usual, Path(tempfile.gettempdir()) / f"hcviz-kernels-{current_user()}"


def current_user() -> int:
    """Return the id of this user; 0 on Windows, where profiles are private."""
    return getattr(os, "getuid", int)()


def _make_private(folder: Path, is_leaf: bool = False) -> bool:
    """Make the folder. Return True if it is writable, and no other user can write to it.

    ``is_leaf``: the folder has the files.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat() if is_leaf else folder.stat()
        if os.name == "posix":
            if found.st_uid == current_user() and _lets_others_replace(found):
                if is_leaf:  # files of others may be in it
                    shutil.rmtree(folder)
                    folder.mkdir(mode=0o700)
                else:
                    folder.chmod(found.st_mode & 0o755)
                found = folder.lstat()
            if not _is_safe(found, is_leaf):
                warn_once(folder, "another user can write to it")
                return False
        return stat.S_ISDIR(found.st_mode) and os.access(folder, os.W_OK)
    except OSError:  # read-only, full, a file instead of a folder
        return False


def _lets_others_replace(found: os.stat_result) -> bool:
    """Return True if other users can write to a folder, and replace the files of others there."""
    return bool(found.st_mode & OTHERS_WRITE) and not found.st_mode & stat.S_ISVTX


def _is_safe(found: os.stat_result, is_leaf: bool) -> bool:
    """Return True if no other user can put files into a folder, or into one in it.

    A folder above the files may also belong to root, or be one like ``/tmp``, in which users cannot
    replace the files of others.
    """
    if not found.st_mode & OTHERS_WRITE:
        return found.st_uid == current_user() or (not is_leaf and found.st_uid == 0)
    return not is_leaf and bool(found.st_mode & stat.S_ISVTX)


@cache
def warn_once(folder: Path, reason: object) -> None:
    """Log once that a folder is not used."""
    log.warning("Compiled kernels are not kept in %s: %s.", folder, reason)


@cache
def kernel_sources() -> tuple[str, ...]:
    """Return the source files of the package that have kernels."""
    files = sorted(PACKAGE.rglob("*.py"))
    return tuple(str(file) for file in files if _DECORATED.search(file.read_text("utf-8")))


def cached_share() -> float:
    """Return the share of these files that have compiled kernels in the cache, from 0 to 1.

    All processes of this user fill the same cache. Without a cache the share stays 0.
    """
    folders = [folder for folder in map(cache_dir, kernel_sources()) if folder is not None]
    filled = sum(any(Path(folder).rglob("*.nbi")) for folder in folders)
    return filled / max(1, len(kernel_sources()))


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


class _Inner(CPUDispatcher):
    """A kernel as other kernels call it.

    It has no function that unpacks Python's arguments. Whole numbers are 64 bits wide, and
    constants are numbers as others, so that there is one variant for all of them.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for these types if necessary; return what numba needs for a call."""
        general = {name: _general(each) for name, each in kws.items()}
        return super().get_call_template([_general(each) for each in args], general)


def _general(kind: Any) -> Any:
    """Return the type of an argument without its value, and whole numbers as 64 bits."""
    kind = numba.types.unliteral(kind)  # type: ignore[no-untyped-call]
    return numba.types.int64 if kind in NARROW else kind


class _Called(CPUDispatcher):
    """A kernel as Python calls it. Some threads run it as plain Python until it is in the cache."""

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Return the function to call: numba calls this for types that are not loaded."""
        if is_called_by_plain() or (may_run_plain(args) and not _is_cached(self, args)):
            return partial(call_plain, self.py_func)
        return cast(Any, super())._compile_for_args(*args, **kws)


def _is_cached(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Return True if a kernel is in the cache on disk for the types of these arguments."""
    try:
        types = tuple(numba.typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
        key = kernel._cache._index_key(types, kernel.targetctx.codegen())
        return key in kernel._cache._cache_file._load_index()
    except Exception:  # no cache; omitted arguments; a damaged file may raise anything
        return False


class _Kernel(_Called):
    """A kernel as Python calls it; other kernels call its ``inner`` form.

    numba compiles for each kernel a function that unpacks Python's arguments, a named tuple of
    fifteen arrays for example. Most kernels are called by other kernels only. Their inner form does
    without, which saves time to compile them. Each form is compiled when it is first called.
    """

    make_inner: Callable[[], Any]

    @cached_property
    def inner(self) -> Any:
        """The form for other kernels. It is made when the first of them is compiled."""
        return self.make_inner()

    @property
    def _numba_type_(self) -> Any:
        """What numba sees in place of this object inside kernels."""
        calls_itself = self.is_compiling
        return numba.types.Dispatcher(self if calls_itself else self.inner)


def njit(function: Callable[..., Any] | None = None, shared: bool = False, **options: Any) -> Any:
    """Decorate a kernel with ``numba.njit(nogil=True, cache=True)`` and the cache folder above.

    ``shared``: Python and other kernels call the same form. This saves one of two compilations of a
    kernel that both call.
    """

    def decorate(kernel: Callable[..., Any]) -> Any:
        folder = cache_dir(kernel.__code__.co_filename)
        made: Any = _compiled_by(kernel, folder, options)
        if not hasattr(made, "overloads"):  # the compiler is disabled
            return made
        made.__class__ = _Called if shared else _Kernel
        if shared:
            return made
        made.make_inner = partial(_inner_form, kernel, folder, options)
        return made

    return decorate if function is None else decorate(function)


def _inner_form(kernel: Any, folder: str | None, options: dict[str, Any]) -> Any:
    """Return the form of a kernel that other kernels call; its cache is in a folder of its own."""
    own = None if folder is None else str(Path(folder) / INNER)
    made = _compiled_by(kernel, own, {**options, "no_cpython_wrapper": True})
    made.__class__ = _Inner
    return made


def _compiled_by(kernel: Any, folder: str | None, options: dict[str, Any]) -> Any:
    """Return the kernel as numba compiles it, with its cache in ``folder``; None: no cache."""
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}
    if folder is None:
        return numba.njit(**options)(kernel)
    with _DECORATING:  # numba reads the folder from a setting of the process
        before = config.CACHE_DIR
        config.CACHE_DIR = folder
        try:
            made = numba.njit(cache=True, **options)(kernel)
        except (OSError, RuntimeError) as fault:  # RuntimeError: no folder can be written
            warn_once(Path(folder), fault)
            return numba.njit(**options)(kernel)
        finally:
            config.CACHE_DIR = before
    _ignore_cache_errors(made, Path(folder))
    return made


def _ignore_cache_errors(kernel: Any, folder: Path) -> None:
    """Let a kernel work if its cache cannot be read or written: it is compiled again."""
    kept = getattr(kernel, "_cache", None)  # absent if the compiler is disabled

    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except Exception as fault:  # a full disk; a damaged pickle may raise anything
                warn_once(folder, repr(fault))
                return None

        return call

    if kept is not None:
        kept.save_overload = guarded(kept.save_overload)
        kept.load_overload = guarded(kept.load_overload)


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
