"""Validate the docstrings of the public API with numpydoc; ``make lint`` runs this script.

The checks are chosen in ``[tool.numpydoc_validation]`` of pyproject.toml. A property needs no
example, because it takes no arguments; the example of its class shows how to get one.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from numpydoc.validate import get_validation_checks, validate

from tools import public_api

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
PROPERTIES = {"property", "cached_property"}


def checks() -> set[str]:
    """Return the codes of the chosen checks."""
    tools = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]
    chosen: set[str] = get_validation_checks(set(tools["numpydoc_validation"]["checks"]))
    return chosen


def faults(paths: Iterable[str]) -> Iterator[str]:
    """Yield one line for each fault in the docstrings of the objects with these paths."""
    chosen = checks()
    for path in paths:
        found = validate(path)
        for code, message in found["errors"]:
            needless = code == "EX01" and found["type"] in PROPERTIES
            if code in chosen and not needless:
                place = f"{found['file']}:{found['file_line']}"
                yield f"{place}: {code} {path}: {message}"


def main() -> int:
    """Print the faults of all public docstrings; return 1 if there are any."""
    found = list(faults(path for path, _ in public_api.objects()))
    print("\n".join(found) or "All public docstrings are valid.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
