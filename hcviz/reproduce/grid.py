"""A grid of computations that can be interrupted: what is done is kept, cell by cell.

With a folder, each finished cell is a line of ``NAME.cells.jsonl`` there; a later run with the same
folder reads them and computes only what is missing. A line that was cut off is computed again.
An interrupt (Ctrl-C) ends the computing, not the program: what there is by then is reported on, as
a grid with fewer cells. So that this is as much as it can be, every cell's first draw comes before
any second one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hcviz.core.errors import InvalidData
from hcviz.datasets.loaders import unavailable_reason
from hcviz.reproduce import record

Key = Mapping[str, Any]
Found = dict[str, Any]


def run(
    name: str, keys: Iterable[Key], compute: Callable[[Key], Found], out: Path | None
) -> list[tuple[dict[str, Any], Found]]:
    """``(key, compute(key))`` for every key, in order; both must be fit for JSON.

    A key names all that its result depends on, the seed ("draw") too. Progress goes to stderr.
    After an interrupt the cells that are done, at least one; else ``KeyboardInterrupt`` goes on.
    """
    wanted = [dict(key) for key in keys]
    file = None if out is None else out / f"{name}.cells.jsonl"
    done = {} if file is None else _read(file)
    missing = sum(_text(key) not in done for key in wanted)
    if file is not None and len(wanted) > missing:
        record.progress(f"{len(wanted) - missing} of {len(wanted)} cells are there from before")
    try:
        _complete(wanted, done, missing, compute, file)
    except KeyboardInterrupt:
        if not done:
            raise
    return [(key, done[_text(key)]) for key in wanted if _text(key) in done]


@dataclass(frozen=True)
class Report:
    """What is said of the cells that were found. All of it must be fit for JSON."""

    #: The object that ``--json`` prints.
    summary: Callable[[list[tuple[dict[str, Any], Found]]], dict[str, Any]]
    #: The same for people.
    text: Callable[[dict[str, Any]], str]
    #: The CSV: its columns, and a row for each number.
    header: tuple[str, ...]
    rows: Callable[[list[tuple[dict[str, Any], Found]]], Iterable[tuple[Any, ...]]]
    #: Saves the picture of a summary in each of the files.
    draw: Callable[[dict[str, Any], list[Path]], object]


def reproduce(
    name: str,
    size: Mapping[str, Any],
    keys: Callable[[Mapping[str, Any]], Iterable[Key]],
    compute: Callable[[Key], Found],
    report: Report,
    options: tuple[bool, bool, Path | None],
) -> None:
    """Compute the grid of this size, what is not yet in the folder of it, and report on it.

    ``options``: quick, as JSON, the folder. An interrupted grid is reported on as far as it got;
    then ``KeyboardInterrupt`` goes on.
    """
    quick, as_json, out = options
    record.check(out)
    began = time.monotonic()
    wanted = list(keys(size))
    found = run(name, wanted, compute, out)
    result = report.summary(found) | {"cells": [len(found), len(wanted)]}
    if out is not None:
        record.write(
            out,
            name,
            record.table(report.header, report.rows(found)),
            record.run_record(
                name, time.monotonic() - began, {"quick": quick}, dict(size), result,
                packages=("scikit-learn",),
            ),
            lambda files: report.draw(result, files),
        )  # fmt: skip
    whole = len(found) == len(wanted)
    if as_json:
        print(json.dumps(result))
    else:
        print(
            report.text(result) if whole else f"{_extent(*result['cells'])}\n{report.text(result)}"
        )
    if not whole:
        raise KeyboardInterrupt


def _extent(done: int, wanted: int) -> str:
    return (
        f"Interrupted: {done} of {wanted} cells are done, and the report is of these. "
        "With --out, the same command goes on from here."
    )


def _complete(
    wanted: list[dict[str, Any]],
    done: dict[str, Found],
    missing: int,
    compute: Callable[[Key], Found],
    file: Path | None,
) -> None:
    at = 0
    for key in sorted(wanted, key=lambda key: key.get("draw", 0)):
        text = _text(key)
        if text not in done:
            at += 1
            record.progress(f"cell {at} of {missing}: {_words(key)}")
            done[text] = compute(key)
            if file is not None:
                _append(file, key, done[text])


def there(data: str) -> bool:
    """Whether a data set can be loaded; if not, says on stderr that it is left out, and why."""
    why = unavailable_reason(data)
    if why:
        record.progress(f"left out: {why}")
    return not why


def _text(key: Key) -> str:
    return json.dumps(dict(key), sort_keys=True)


def _words(key: Key) -> str:
    return ", ".join(f"{name} {value}" for name, value in key.items())


def _read(file: Path) -> dict[str, Found]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as fault:
        raise InvalidData(f"{file} cannot be read ({fault.strerror}).") from None
    found: dict[str, Found] = {}
    for line in lines:
        try:
            cell = json.loads(line)
            found[_text(cell["key"])] = cell["found"]
        except (ValueError, KeyError, TypeError):  # cut off, or not ours
            continue
    return found


def _append(file: Path, key: Key, found: Found) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"key": dict(key), "found": found}) + "\n")
    except OSError as fault:
        raise InvalidData(f"{file} cannot be written to ({fault.strerror}).") from None
