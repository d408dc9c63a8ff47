"""What ``hcviz reproduce NAME --out FOLDER`` leaves behind, alike for every paper.

A paper's module has ``reproduce(quick, as_json, out)``, which

1. calls :func:`check` first: a folder that cannot be is refused before anything runs;
2. computes, and says with :func:`progress` what it is at;
3. if there is a folder, has :func:`write` put ``NAME.csv`` (by :func:`table`, a row for each tree
   or run), ``NAME.json`` (by :func:`run_record`), ``NAME.svg`` and ``NAME.png`` there;
4. prints its result: ``json.dumps`` of one object, or a table for people.
"""

from __future__ import annotations

import csv
import io
import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hcviz.core.errors import InvalidData, InvalidParameter

#: What all computations rest on: its versions are in every run record.
PACKAGES = ("hcviz", "numpy", "numba", "scipy")


def check(out: Path | None) -> None:
    """Refuse an ``--out`` that is a file (InvalidParameter); one that is not there yet is made."""
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidParameter(f"--out {out} is a file.", "Name a folder.")


def progress(part: str) -> None:
    """Say on stderr what is computed now: stdout is for results."""
    print(f"hcviz: {part}", file=sys.stderr, flush=True)


def table(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """The text of a CSV: ``header``, then ``rows``, as they are; None is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def run_record(
    paper: str,
    seconds: float,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    found: Mapping[str, Any],
    packages: Sequence[str] = (),
) -> dict[str, Any]:
    """What was run, with what, and how it ended: enough to run it again.

    ``seconds``: how long it took, on the clock; ``options``: what the caller chose, ``quick`` at
    least; ``settings``: what the module has fixed (data, draws, seeds); ``found``: results, each
    under its own name; ``packages``: others than :data:`PACKAGES` that have a say in the numbers.
    All of it must be fit for JSON.
    """
    versions = {name: version(name) for name in (*PACKAGES, *packages)}
    return {
        "paper": paper,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        **options,
        "settings": dict(settings),
        "versions": versions | {"python": platform.python_version(), "machine": platform.machine()},
        **found,
    }


def write(
    out: Path,
    paper: str,
    rows: str,
    record: Mapping[str, Any],
    draw: Callable[[list[Path]], object],
) -> None:
    """Put a paper's files in the folder ``out``, which is made where it is missing.

    ``rows``: the CSV, by :func:`table`; ``record``: by :func:`run_record`; ``draw(files)`` makes
    the picture and saves it in each of ``files``, whose endings say how. The module that draws
    imports matplotlib, which takes a second: import it where ``draw`` is called for. Raises
    InvalidData where the folder cannot be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{paper}.csv").write_text(rows, encoding="utf-8")
        (out / f"{paper}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        draw([out / f"{paper}.svg", out / f"{paper}.png"])
    except OSError as fault:
        raise InvalidData(f"{out} cannot be written to ({fault.strerror}).") from None
