"""The lesson scripts that come with the package: data/lessons/*.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hcviz.core.errors import HcvizError
from hcviz.datasets.loaders import data_folder


def _files() -> list[Path]:
    """Return the scripts in the order of their numbered names."""
    return sorted((data_folder() / "lessons").glob("[0-9]-*.md"))


@cache
def prepared_scripts() -> list[list[str]]:
    """Return the prepared scripts, as ``[[name, title], ...]``."""
    return [
        [each.stem, each.read_text(encoding="utf-8").split("\n", 1)[0].strip("# ")]
        for each in _files()
    ]


def prepared_text(name: str) -> str:
    """Return a prepared script. Raises :class:`HcvizError` if there is none of that name."""
    found = {each.stem: each for each in _files()}
    if name not in found:
        raise HcvizError(f"There is no lesson {name!r}.", f"There are: {', '.join(found)}.")
    return found[name].read_text(encoding="utf-8")
