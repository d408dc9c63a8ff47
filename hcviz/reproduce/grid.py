"""A grid of computations that can be interrupted and continued.

With a folder, each finished cell is a line of ``NAME.cells.jsonl``. A later run with the same
folder reads these and computes the missing cells. An incomplete line is computed again. After an
interrupt (Ctrl-C), the report is about the finished cells. To make it useful, the first draws of
all cells come before the second draws.
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
from hcviz.reproduce.claims import exit_code

Key = Mapping[str, Any]
Found = dict[str, Any]


def run(
    name: str, keys: Iterable[Key], compute: Callable[[Key], Found], out: Path | None
) -> list[tuple[dict[str, Any], Found]]:
    """Return ``(key, compute(key))`` for all keys, in order. Both must be JSON values.

    A key has everything that its result depends on, with the seed ("draw"). Progress goes to
    stderr. After an interrupt, the result has the finished cells. If there are none,
    ``KeyboardInterrupt`` is raised.
    """
    wanted = [dict(key) for key in keys]
    file = None if out is None else out / f"{name}.cells.jsonl"
    done = {} if file is None else _read(file)
    missing = sum(_text(key) not in done for key in wanted)
    if file is not None and len(wanted) > missing:
        record.progress(f"{len(wanted) - missing} of {len(wanted)} cells are finished already")
    try:
        _complete(wanted, done, missing, compute, file)
    except KeyboardInterrupt:
        if not done:
            raise
    return [(key, done[_text(key)]) for key in wanted if _text(key) in done]


@dataclass(frozen=True)
class Report:
    """Functions that report on the finished cells. All results must be JSON values."""

    #: Returns the object that ``--json`` prints.
    summary: Callable[[list[tuple[dict[str, Any], Found]]], dict[str, Any]]
    #: Returns the summary as text.
    text: Callable[[dict[str, Any]], str]
    #: Columns of the CSV, and a function that returns a row for each number.
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
    paper_size: str = "",
) -> int:
    """Compute the cells that are not yet in the folder, and report on all.

    ``options`` are quick, as JSON, and the folder; ``paper_size`` says how large the paper's grid
    is if this one is smaller. Return 1 if a claim does not hold, otherwise 0. An interrupted grid
    is reported as far as it is finished; then ``KeyboardInterrupt`` is raised.
    """
    quick, as_json, out = options
    record.check_folder(out)
    began = time.monotonic()
    wanted = list(keys(size))
    found = run(name, wanted, compute, out)
    result = report.summary(found) | {"paper_size": paper_size, "cells": [len(found), len(wanted)]}
    if out is not None:
        record.write_files(
            out,
            name,
            record.csv_text(report.header, report.rows(found)),
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
    return exit_code((each["holds"] for each in result["claims"]), paper_size)


def _extent(done: int, wanted: int) -> str:
    return (
        f"Interrupted: {done} of {wanted} cells are finished, and the report is about these. "
        "With --out, the same command continues from here."
    )


def _complete(
    wanted: list[dict[str, Any]],
    done: dict[str, Found],
    missing: int,
    compute: Callable[[Key], Found],
    file: Path | None,
) -> None:
    at, began = 0, time.monotonic()
    for key in sorted(wanted, key=lambda key: key.get("draw", 0)):
        text = _text(key)
        if text not in done:
            at += 1
            left = record.time_left(time.monotonic() - began, at - 1, missing)
            record.progress(f"cell {at} of {missing}{left}: {_words(key)}")
            done[text] = compute(key)
            if file is not None:
                _append(file, key, done[text])


def is_available(data: str) -> bool:
    """Return True if a data set can be loaded. Otherwise, print on stderr why it is left out."""
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
        except (ValueError, KeyError, TypeError):  # incomplete or foreign line
            continue
    return found


def _append(file: Path, key: Key, found: Found) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"key": dict(key), "found": found}) + "\n")
    except OSError as fault:
        raise InvalidData(f"{file} cannot be written to ({fault.strerror}).") from None
