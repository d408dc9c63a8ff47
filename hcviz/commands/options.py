"""The parameters of a method as options of ``hcviz run``: their help and their values."""

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
    """Return the first word that is a method and not the value of an option."""
    for before, word in pairwise(words):
        takes_value = before.startswith("-") and "=" not in before and before not in FLAGS
        if word in hcviz.algorithms() and not takes_value:
            return word
    return None


def add_parameters(parser: argparse.ArgumentParser, method: Algorithm) -> None:
    """Add an option for each parameter, with its doc, default and choices."""
    about = f"{method.summary} {method.how_it_works}".strip().replace("%", "%%")
    group = parser.add_argument_group(method.title, about or None)
    for name in method.parameter_names():
        parameter = method.params.param[name]
        text = " ".join((parameter.doc or "").split()).replace("%", "%%")
        if isinstance(parameter, param.Selector):
            text += f" One of {', '.join(map(str, parameter.get_range().values()))}."
        bounds = getattr(parameter, "bounds", None)
        if bounds:
            low, high = ("" if bound is None else bound for bound in bounds)
            text += f" In {low}..{high}."
        group.add_argument(
            f"--{name.replace('_', '-')}",
            dest=f"parameter_{name}",
            metavar="VALUE",
            help=f"{text} Default: {parameter.default}.".strip(),
        )


def parameter_values(method: Algorithm, options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters given on the command line, as values of their types."""
    texts: dict[str, str] = {}
    for assignment in options.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise InvalidParameter(f"--set {assignment} has no '='.", "Write --set name=value.")
        texts[name.strip().replace("-", "_")] = value.strip()
    for name in method.parameter_names():
        value = getattr(options, f"parameter_{name}", None)
        if value is not None:
            texts[name] = value
    known = method.parameter_names()
    return {
        name: parse_value(method.params.param[name], text) if name in known else text
        for name, text in texts.items()
    }


def parse_value(parameter: param.Parameter[Any], text: str) -> Any:
    """Return the value of a parameter in ``text``. The method checks its bounds."""
    if parameter.allow_None and text.lower() == "none":
        return None
    if isinstance(parameter, param.Boolean):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise InvalidParameter(f"{parameter.name} is yes or no, not {text!r}.")
        return words[text.lower()]
    if isinstance(parameter, param.Selector):
        by_name = {str(value): value for value in parameter.get_range().values()}
        return by_name.get(text, text)
    if isinstance(parameter, param.Number):
        whole = isinstance(parameter, param.Integer)
        try:
            return int(text) if whole and "e" not in text.lower() else number(text, whole)
        except (ValueError, OverflowError):
            noun = "a whole number" if whole else "a number"
            raise InvalidParameter(f"{parameter.name} must be {noun}, not {text!r}.") from None
    if isinstance(parameter, param.String):
        return text
    try:  # a parameter of several types: a number, a list, or a text
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def number(text: str, whole: bool) -> float:
    """Return the number in ``text``, as an int if ``whole`` (for instance 1e3)."""
    value = float(text)
    if whole and not value.is_integer():
        raise ValueError(text)
    return int(value) if whole else value
