"""A method's parameters as options of ``hcviz run``: their help, and what was said for them."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import param

import hcviz
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import InvalidParameter

#: The options of ``run`` that take no value.
FLAGS = ("--json", "-h", "--help", "--")


def method_among(words: Sequence[str]) -> str | None:
    """The first method among the words that is not the value of an option."""
    for before, word in pairwise(words):
        takes_value = before.startswith("-") and "=" not in before and before not in FLAGS
        if word in hcviz.algorithms() and not takes_value:
            return word
    return None


def add_parameters(parser: argparse.ArgumentParser, method: Algorithm) -> None:
    """An option for each parameter, with its doc, default and choices."""
    group = parser.add_argument_group(method.title, method.summary or None)
    for name in method.parameter_names():
        what = method.params.param[name]
        told = " ".join((what.doc or "").split()).replace("%", "%%")
        if isinstance(what, param.Selector):
            told += f" One of {', '.join(map(str, what.get_range().values()))}."
        bounds = getattr(what, "bounds", None)
        if bounds:
            low, high = ("" if bound is None else bound for bound in bounds)
            told += f" In {low}..{high}."
        group.add_argument(
            f"--{name.replace('_', '-')}",
            dest=f"parameter_{name}",
            metavar="VALUE",
            help=f"{told} Default: {what.default}.".strip(),
        )


def parameter_values(method: Algorithm, options: argparse.Namespace) -> dict[str, Any]:
    """What was said on the command line, as values of the parameters' types."""
    said: dict[str, str] = {}
    for assignment in options.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise InvalidParameter(f"--set {assignment} has no '='.", "Write --set name=value.")
        said[name.strip().replace("-", "_")] = value.strip()
    for name in method.parameter_names():
        value = getattr(options, f"parameter_{name}", None)
        if value is not None:
            said[name] = value
    known = method.parameter_names()
    return {
        name: parse_value(method.params.param[name], text) if name in known else text
        for name, text in said.items()
    }


def parse_value(what: param.Parameter[Any], text: str) -> Any:
    """``text`` as a value of that parameter; its bounds are checked by the method."""
    if what.allow_None and text.lower() == "none":
        return None
    if isinstance(what, param.Boolean):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise InvalidParameter(f"{what.name} is yes or no, not {text!r}.")
        return words[text.lower()]
    if isinstance(what, param.Selector):
        by_name = {str(value): value for value in what.get_range().values()}
        return by_name.get(text, text)
    if isinstance(what, param.Number):
        whole = isinstance(what, param.Integer)
        try:
            return int(text) if whole and "e" not in text.lower() else number(text, whole)
        except (ValueError, OverflowError):
            noun = "a whole number" if whole else "a number"
            raise InvalidParameter(f"{what.name} must be {noun}, not {text!r}.") from None
    if isinstance(what, param.String):
        return text
    try:  # a parameter of several types: a number, a list, else the word itself
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def number(text: str, whole: bool) -> float:
    """``text`` as a float, or (1e3, say) as the int that it is; else ValueError."""
    value = float(text)
    if whole and not value.is_integer():
        raise ValueError(text)
    return int(value) if whole else value
