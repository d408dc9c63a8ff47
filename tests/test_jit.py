"""The cache folder of compiled kernels depends on all files that a kernel uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

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
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))  # not a folder, whoever asks
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
    said = []
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
        said.append(done.stdout.strip())
    assert said == ["2", "3"]
