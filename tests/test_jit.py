"""The cache folder of compiled kernels depends on all files that a kernel uses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

from hcviz.core import jit
from tests.conftest import ROOT


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Two files with a kernel and its callee, as ``jit`` sees a package."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "callee.py").write_text("@njit\ndef f(x):\n    return x + 1\n")
    (folder / "kernel.py").write_text(
        "from package.between import (\n    f,\n)\n@njit\ndef g(x):\n    return f(x)\n"
    )
    (folder / "between.py").write_text("from package.plain import h\nfrom package import callee\n")
    (folder / "other.py").write_text("@njit\ndef k(x):\n    return x\n")
    (folder / "plain.py").write_text("def h(x):\n    return x\n")
    monkeypatch.setattr(jit, "PACKAGE", folder)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    yield folder
    jit.cache_dir.cache_clear()


def folder_now(name: str = "kernel") -> str:
    jit.cache_dir.cache_clear()
    jit.imported_files.cache_clear()
    return jit.cache_dir(str(jit.PACKAGE / f"{name}.py"))


def test_editing_a_callee_in_another_file_changes_the_folder(package):
    before = folder_now()
    assert folder_now() == before
    (package / "callee.py").write_text("@njit\ndef f(x):\n    return x + 2\n")
    assert folder_now() != before


def test_an_edit_does_not_affect_independent_kernels(package):
    before = folder_now("other"), folder_now("callee")
    (package / "kernel.py").write_text("@njit\ndef g(x):\n    return 2 * x\n")
    assert (folder_now("other"), folder_now("callee")) == before


def test_editing_a_constant_in_another_file_changes_the_folder(package):
    """numba compiles the constants that a kernel names into it."""
    before = folder_now()
    (package / "plain.py").write_text("def h(x):\n    return x\nCOLUMN = 2\n")
    assert folder_now() != before


def test_editing_a_file_that_is_not_imported_has_no_effect(package):
    before = folder_now()
    (package / "aside.py").write_text("from package.kernel import g\n")
    assert folder_now() == before


def test_the_folder_can_be_set_and_is_writable(package, tmp_path):
    folder = Path(folder_now())
    assert folder.parent == tmp_path / "cache"
    (folder / "x").write_text("")


def test_a_read_only_home_is_no_error(package, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))  # not a folder, for any user
    folder = folder_now()
    assert not folder.startswith(str(tmp_path / "file"))
    assert os.access(folder, os.W_OK)


def test_caches_of_other_packages_do_not_move():
    before = numba.config.CACHE_DIR

    @jit.njit
    def ours(x):
        return x + 1

    assert before == numba.config.CACHE_DIR
    assert ours(1) == 2


CALLER = """
import sys
sys.path.insert(0, sys.argv[1])
from hcviz.core import jit
from pathlib import Path
jit.PACKAGE = Path(sys.argv[1]).resolve()
jit.cache_dir.cache_clear()
import kernel
print(kernel.g(1))
"""


def test_a_caller_uses_an_edited_callee(tmp_path):
    """The fault itself, with numba at work: g's machine code holds f's, and only f was edited."""
    (tmp_path / "kernel.py").write_text(
        "from hcviz.core.jit import njit\nfrom callee import f\n@njit\ndef g(x):\n    return f(x)\n"
    )
    outputs = []
    for step in (1, 2):
        (tmp_path / "callee.py").write_text(
            f"from hcviz.core.jit import njit\n@njit\ndef f(x):\n    return x + {step}\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", CALLER, str(tmp_path)],
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(done.stdout.strip())
    assert outputs == ["2", "3"]


# ---------------------------------------------------------------------- faults of the cache


class TestFoldersOfOthers:
    """numba unpickles the files of its cache, so no other user may write to the folder."""

    def test_a_new_folder_is_private_for_any_umask(self, package):
        before = os.umask(0)
        try:
            folder = Path(folder_now())
        finally:
            os.umask(before)
        assert folder.stat().st_mode & 0o077 == 0
        assert folder.parent.stat().st_mode & 0o022 == 0

    def test_a_folder_that_others_could_write_to_is_emptied_first(self, package):
        folder = Path(folder_now())
        (folder / "planted.nbi").write_bytes(b"a pickle")
        folder.chmod(0o777)
        assert folder_now() == str(folder)
        assert not list(folder.iterdir())
        assert folder.stat().st_mode & 0o022 == 0

    def test_a_folder_of_another_user_is_not_used(self, package, monkeypatch, tmp_path, caplog):
        folder = Path(folder_now())
        (folder / "planted.nbi").write_bytes(b"a pickle")
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(temporary))
        monkeypatch.setattr(
            jit, "current_user", lambda: os.getuid() + 1
        )  # all folders here are another's
        jit.warn_once.cache_clear()
        assert folder_now() is None
        assert "another user can write" in caplog.text
        assert (folder / "planted.nbi").exists()

    def test_a_link_to_a_folder_is_not_used(self, package, tmp_path):
        folder = Path(folder_now())
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        folder.rmdir()
        folder.symlink_to(elsewhere)
        assert folder_now() != str(folder)


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A function that makes the same kernel again, as another process would, and its cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    jit.cache_dir.cache_clear()
    jit.warn_once.cache_clear()

    def make():
        @jit.njit
        def twice(x):
            return 2 * x

        return twice

    yield make
    jit.cache_dir.cache_clear()


def test_a_full_disk_does_not_stop_a_kernel(compiled, monkeypatch, caplog):
    kernel = compiled()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert kernel(3) == 6
    assert "No space left" in caplog.text


def test_damaged_files_of_the_cache_are_compiled_again(compiled, tmp_path, caplog):
    assert compiled()(3) == 6
    files = [each for each in (tmp_path / "cache").rglob("*.nb?") if each.is_file()]
    assert {each.suffix for each in files} == {".nbi", ".nbc"}
    for damage in (b"", b"\x80\x04garbage", bytes(200)):
        for suffix in (".nbi", ".nbc"):
            for file in files:
                if file.suffix == suffix:
                    file.write_bytes(damage)
            assert compiled()(3) == 6


def test_without_any_folder_a_kernel_is_compiled_in_memory(compiled, monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(file))
    jit.cache_dir.cache_clear()
    kernel = compiled()
    assert kernel(3) == 6
    assert kernel.stats.cache_path is None


def test_the_cache_reports_its_size(compiled, monkeypatch):
    assert str(jit.PACKAGE / "core" / "buildkernels.py") in jit.kernel_sources()
    monkeypatch.setattr(jit, "kernel_sources", lambda: (__file__, jit.__file__))
    kernel = compiled()
    assert jit.cached_share() == 0
    kernel(3)
    assert jit.cached_share() == 0.5


# ---------------------------------------------------------------------- the two forms of a kernel


@jit.njit
def _plus(x, y):
    return x + y


@jit.njit
def _sums(values):
    total = _plus(values[0], 3)  # int32, and a constant
    for k in range(values.size):
        total += _plus(k, values[k])
    return total


@jit.njit
def _countdown(n):
    return 0 if n <= 0 else 1 + _countdown(n - 1)


@jit.njit
def _twice(n):
    return 2 * _countdown(n)


@jit.njit(shared=True)
def _negated(x):
    return -x


@jit.njit
def _negated_in_a_kernel(x):
    return _negated(x)


def test_a_kernel_within_kernels_has_one_form_for_all_whole_numbers():
    assert _sums(np.array([4, 5], np.int32)) == 4 + 3 + 4 + 1 + 5
    _sums.recompile()  # it may have come from the cache
    assert list(_plus.inner.overloads) == [(numba.int64, numba.int64)]
    assert not _plus.overloads  # Python has not called it
    assert _plus(2, 3) == 5
    assert len(_plus.overloads) == len(_plus.inner.overloads) == 1


def test_a_kernel_that_calls_itself_works_in_both_forms():
    assert (_countdown(5), _twice(5)) == (5, 10)


def test_a_shared_kernel_is_compiled_once():
    assert (_negated_in_a_kernel(3), _negated(3)) == (-3, -3)
    assert not hasattr(_negated, "inner")
    assert len(_negated.overloads) == 1


def test_both_forms_are_loaded_from_the_cache(tmp_path):
    """The forms have the same name and types, so each has a folder of its own."""
    program = (
        "import numba, numpy as np\n"
        "from hcviz.core.splitmixkernels import child_seed\n"
        "child_seed.inner.get_call_template([numba.uint64, numba.int32], {})\n"
        "child_seed(np.uint64(1), 2)\n"
        "for form in (child_seed.inner, child_seed):\n"
        "    hits, misses = form.stats.cache_hits, form.stats.cache_misses\n"
        "    print(sum(hits.values()), sum(misses.values()))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    printed = []
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert found.returncode == 0, found.stderr
        printed.append(found.stdout.split())
    assert printed == [["0", "1", "0", "1"], ["1", "0", "1", "0"]]
    kept = list(tmp_path.rglob("*.child_seed-*.nbi"))
    assert sorted(jit.INNER in path.parts for path in kept) == [False, True]
