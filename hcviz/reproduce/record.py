"""Output files of ``hcviz reproduce NAME --out FOLDER``, the same for all papers.

The module of a paper has a function ``reproduce(quick, as_json, out)``, which

1. calls :func:`check_folder`, so that an unusable folder is an error before the computation;
2. computes, and prints its progress with :func:`progress`;
3. calls :func:`write_files` if there is a folder. This writes ``NAME.csv`` (from :func:`csv_text`,
   a row for each tree or run), ``NAME.json`` (from :func:`run_record`), ``NAME.svg`` and
   ``NAME.png``;
4. prints its result: one JSON object, or tables.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hcviz.core.csv_cells import write_csv
from hcviz.core.errors import InvalidData, InvalidParameter

#: Packages whose versions are in every run record.
PACKAGES = ("hcviz", "numpy", "numba", "scipy")


def check_folder(out: Path | None) -> None:
    """Raise InvalidParameter if ``--out`` is a file. A missing folder is created later."""
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidParameter(f"--out {out} is a file.", "Name a folder.")


def progress(part: str) -> None:
    """Print on stderr what is computed now."""
    print(f"hcviz: {part}", file=sys.stderr, flush=True)


def time_left(seconds: float, done: int, parts: int) -> str:
    """Return a phrase for the time that the other parts take; "" before the first has ended.

    Examples
    --------
    >>> time_left(30.0, 2, 10), time_left(400.0, 1, 10)
    (', about 2 min left', ', about 1 h left')
    >>> time_left(0.0, 0, 10)
    ''
    """
    if not done:
        return ""
    left = seconds / done * (parts - done)
    if left < 60:
        return f", about {max(1, round(left))} s left"
    return (
        f", about {round(left / 60)} min left"
        if left < 3600
        else f", about {left / 3600:.0f} h left"
    )


def csv_text(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return the text of a CSV file with ``header`` and ``rows``. None is an empty cell."""
    return write_csv([header, *rows], "\n")


def run_record(
    paper: str,
    seconds: float,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    found: Mapping[str, Any],
    packages: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a record of the run, with all that is needed to repeat it.

    Parameters
    ----------
    paper : name of the paper
    seconds : duration of the run
    options : the user's options, with ``quick``
    settings : fixed settings of the module (data, draws, seeds)
    found : results by name
    packages : packages besides :data:`PACKAGES` that influence the numbers

    All values must be JSON values.
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


def write_files(
    out: Path,
    paper: str,
    rows: str,
    record: Mapping[str, Any],
    draw: Callable[[list[Path]], object],
) -> None:
    """Write the files of a paper to the folder ``out``, which is created if necessary.

    Parameters
    ----------
    out : the folder
    paper : name of the paper, and of the files
    rows : the CSV, from :func:`csv_text`
    record : the run record, from :func:`run_record`
    draw : function that saves the picture in each of the given files, by their suffixes. It should
        import matplotlib, which is slow to import.

    Raises
    ------
    InvalidData
        If the folder cannot be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{paper}.csv").write_text(rows, encoding="utf-8")
        (out / f"{paper}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        draw([out / f"{paper}.svg", out / f"{paper}.png"])
    except OSError as fault:
        raise InvalidData(f"{out} cannot be written to ({fault.strerror}).") from None
