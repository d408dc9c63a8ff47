"""A function for each method, with the method's parameters: ``hcviz.methods.crsc(problem)``.

A function is made when it is first named, so that importing this module imports no method. Its name
is the method's with ``_`` for ``-``; a name that begins with a digit gets an ``m``: ``m4_al``.
``help(hcviz.methods.crsc)`` lists the parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import param

from hcviz.algorithms import algorithms, fit, get
from hcviz.algorithms.base import Algorithm
from hcviz.algorithms.parameter_values import parameter_doc
from hcviz.core.tree import Tree


def function_name(method: str) -> str:
    """Return the name of a method's function: ``m4_al`` for ``4-al``."""
    name = method.replace("-", "_")
    return name if name.isidentifier() else f"m{name}"


def _annotation(parameter: param.Parameter[Any]) -> Any:
    """Return the type of a parameter."""
    kinds: dict[type, Any] = {
        param.Boolean: bool, param.Integer: int, param.Number: float, param.String: str,
    }  # fmt: skip
    if isinstance(parameter, param.Selector):
        return Literal[tuple(parameter.get_range().values())]
    found = next((kind for each, kind in kinds.items() if isinstance(parameter, each)), Any)
    return found | None if parameter.allow_None and found is not Any else found


def _doc(method: Algorithm) -> str:
    """Return the docstring of a method's function."""
    entries = [
        ("problem : Problem, Dataset, DataFrame or array (n, d)", "What to run on."),
        ("seed : int, None or numpy.random.Generator", "Of the random numbers."),
        ("start : Tree, Snapshot or None", "Where to begin."),
        ("progress : bool", "Show a bar."),
    ]
    for name in method.parameter_names():
        parameter = method.params.param[name]
        kind = inspect.formatannotation(_annotation(parameter)).replace("typing.", "")
        entries.append(
            (f"{name} : {kind}, default {parameter.default!r}", parameter_doc(parameter))
        )
    lines = [f"{method.title}. {method.summary}".strip(), ""]
    lines += [method.how_it_works, ""] if method.how_it_works else []
    lines += [f"{method.paper}.", ""] if method.paper else []
    lines += ["Parameters", "----------"]
    for head, text in entries:
        lines += [head, f"    {text}"]
    lines += ["", "Returns", "-------", "Tree", "    The same as ``hcviz.fit(method, ...)``."]
    return "\n".join(lines)


def _function(method: Algorithm) -> Callable[..., Tree]:
    """Make the function of a method."""

    def call(problem: Any, **options: Any) -> Tree:
        return fit(method.name, problem, **options)

    keyword = inspect.Parameter.KEYWORD_ONLY
    options = {"seed": (0, Any), "start": (None, Any), "progress": (False, bool)}
    options |= {
        name: (method.params.param[name].default, _annotation(method.params.param[name]))
        for name in method.parameter_names()
    }
    call.__name__ = call.__qualname__ = function_name(method.name)
    call.__doc__ = _doc(method)
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("problem", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any),
            *(
                inspect.Parameter(name, keyword, default=default, annotation=kind)
                for name, (default, kind) in options.items()
            ),
        ],
        return_annotation=Tree,
    )
    return call


def __getattr__(name: str) -> Callable[..., Tree]:
    """Return the function of a method, made at first use."""
    for method in algorithms():
        if function_name(method) == name:
            made = globals()[name] = _function(get(method))
            return made
    raise AttributeError(f"hcviz has no method {name!r}. Known: {', '.join(__dir__())}.")


def __dir__() -> list[str]:
    """Return the names of the functions."""
    return [function_name(name) for name in algorithms()]
