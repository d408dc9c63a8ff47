"""``hcviz warm``: all kernels are compiled, and a cache that cannot be written is a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hcviz.algorithms.structural import starts
from hcviz.cli import main
from hcviz.commands import compile_all
from hcviz.core.jit import cache_dir, cached_share


def test_all_kernels_are_compiled_afterwards(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["warm"]) == 0
    assert caplog.text == ""  # no module could not be warmed
    found = re.fullmatch(
        r"hcviz: all kernels are compiled, in (.+) \((\d+) MB\)\.\n", capsys.readouterr().out
    )
    assert found
    assert Path(found[1]).is_dir()
    assert int(found[2]) > 1
    assert cached_share() > 0.95
    folder = Path(cache_dir(starts.__file__) or "")
    assert list(folder.rglob("starts.advance-*.nbi"))  # only a run without a start uses it


def test_without_a_folder_for_the_kernels_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compile_all, "cache_dir", lambda source: None)
    assert main(["warm"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "cannot be kept" in message
    assert "NUMBA_CACHE_DIR" in message
