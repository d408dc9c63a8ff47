"""Lines on stderr about what a command does with the data and the constraints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from hcviz.algorithms.base import Algorithm
from hcviz.commands.standard_input import is_input_file
from hcviz.core.text import count_noun
from hcviz.datasets import Dataset
from hcviz.io.cells import missing_cells


def say(sentence: str) -> None:
    """Print one line on stderr."""
    print(f"hcviz: {sentence}", file=sys.stderr)


def say_notes(data: Dataset, options: argparse.Namespace) -> None:
    """Say how a file was read, which cells were filled, and whether features look like a matrix."""
    values, is_file = data.features, is_input_file(options.data)
    missing = missing_cells(data.n_missing, data.n_cells)
    for note in data.notes if is_file else ():
        if note != f"{missing}.":
            say(note)
    if values is None:
        return
    if data.n_missing:
        say(f"{missing}; each gets the mean of its column.")
    if options.kind == "features" and is_file and _is_matrix(values):
        say(
            f"{options.data} is square and symmetric, and is read as features. If it is a matrix, "
            "add --kind distance or --kind similarity."
        )


def say_ignored(method: Algorithm, params: Mapping[str, Any], constraints: int) -> None:
    """Say that a method does not read the constraints, or may violate them."""
    mode = method.constraint_mode(params)
    if constraints and mode == "ignored":
        say(f"{method.name} ignores the {count_noun(constraints, 'constraint')} of --triplets.")
    elif constraints and mode == "soft":
        say(f"{method.name} weighs the constraints of --triplets, and may violate some.")


def say_unread_answers(method: Algorithm, options: argparse.Namespace) -> None:
    """Say that a method does not read the answers of ``--answers``."""
    if options.answers and not {"comparisons", "comparison oracle"} & set(method.needs):
        say(f"{method.name} ignores the answers of --answers.")


def _is_matrix(values: Any) -> bool:
    """Return True for a square symmetric array of three rows or more."""
    rows, columns = values.shape
    return rows == columns >= 3 and bool(np.array_equal(values, values.T, equal_nan=True))


__all__ = ["say", "say_ignored", "say_notes", "say_unread_answers"]
