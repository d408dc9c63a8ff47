"""``make check`` takes what is fast and one browser test; ``make test`` leaves nothing out."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.conftest import ROOT
from tests.tiers import SLOW


def fast_of(*paths: str) -> list[str]:
    """The tests under these paths that ``make check`` runs."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow", *paths],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if "::" in line]


def recipe(target: str) -> str:
    makefile = (ROOT / "Makefile").read_text()
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert found is not None
    return found[1]


def test_every_module_that_is_called_slow_exists() -> None:
    named = [name for names in SLOW.values() for name in names]
    assert len(named) == len(set(named))
    assert [name for name in named if not (ROOT / "tests" / f"{name}.py").exists()] == []


def test_the_fast_tier_has_one_browser_test_and_no_test_of_a_slow_module() -> None:
    """The browser test states a constraint and sees the tree change."""
    fast = fast_of("tests/browser", "tests/test_cluster_paused.py", "tests/test_dataframes.py")
    smoke = [test for test in fast if test.startswith("tests/browser/")]
    assert smoke == ["tests/browser/test_story.py::test_a_click_corrects_the_tree"]
    others = {test.split("::")[0] for test in fast if test not in smoke}
    assert others == {"tests/test_dataframes.py"}


def test_check_is_the_fast_tier_and_test_is_everything() -> None:
    assert '-m "not slow"' in recipe("check")
    assert "slow" not in recipe("test")
    assert "smoke" not in recipe("test")
