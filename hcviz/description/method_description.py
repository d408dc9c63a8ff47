"""``describe``: what a method does, needs and takes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING

from hcviz.algorithms import get
from hcviz.algorithms.names import MethodName
from hcviz.algorithms.parameter_values import parameter_doc

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MethodDescription:
    """What a method does, needs and takes. ``print`` shows all of it.

    Parameters
    ----------
    name, title, summary, paper : str
        Its name in the registry, its name for people, one sentence, authors and year.
    needs : tuple of str
        The alternative inputs, one of which suffices.
    constraints : {"hard", "soft", "ignored"}
        What constraints are to it by default.
    softened_by : str
        The parameter that makes constraints soft, or "".
    how_it_works : str
        A paragraph that explains the method, or "".
    parameters : tuple of (str, object, str)
        Name, default and doc of each parameter.

    Examples
    --------
    >>> import hcviz
    >>> hcviz.describe("average").constraints
    'hard'
    """

    name: str
    title: str
    summary: str
    paper: str
    needs: tuple[str, ...]
    constraints: str
    softened_by: str
    how_it_works: str
    parameters: tuple[tuple[str, object, str], ...]

    def frame(self) -> pd.DataFrame:
        """Return a table with a row for each parameter.

        Returns
        -------
        pandas.DataFrame
            The index is the name; columns ``default`` and ``doc``.

        Examples
        --------
        >>> import hcviz
        >>> hcviz.describe("crsc").frame().loc["refine", "default"]
        False
        """
        import pandas as pd

        rows = [(default, doc) for _, default, doc in self.parameters]
        names = pd.Index([name for name, _, _ in self.parameters], name="parameter")
        return pd.DataFrame(rows, index=names, columns=["default", "doc"], dtype=object)

    def _facts(self) -> list[str]:
        soft = f", soft with {self.softened_by}" if self.softened_by else ""
        facts = [self.summary, self.how_it_works, self.paper and f"{self.paper}."]
        facts += [f"Needs {' or '.join(self.needs)}.", f"Constraints are {self.constraints}{soft}."]
        return [each for each in facts if each]

    def __str__(self) -> str:
        lines = [f"{self.title} ({self.name})", *(fill(each, 100) for each in self._facts())]
        for name, default, doc in self.parameters:
            lines.append(f"  {name} = {default!r}")
            lines.append(fill(doc, 100, initial_indent="      ", subsequent_indent="      "))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        facts = "".join(f"<p>{escape(each)}</p>" for each in self._facts())
        rows = "".join(
            f'<tr><td style="text-align:left"><code>{escape(name)}</code></td>'
            f'<td style="text-align:left"><code>{escape(repr(default))}</code></td>'
            f'<td style="text-align:left">{escape(doc)}</td></tr>'
            for name, default, doc in self.parameters
        )
        table = (
            f"<table><tr><th>parameter</th><th>default</th><th></th></tr>{rows}</table>"
            if rows
            else ""
        )
        return f"<h4>{escape(self.title)} <code>{escape(self.name)}</code></h4>{facts}{table}"


def describe(method: MethodName | str) -> MethodDescription:
    """Describe a method: what it does, what it needs, and its parameters.

    Parameters
    ----------
    method : str
        A name of :func:`hcviz.algorithms`.

    Returns
    -------
    MethodDescription
        ``print`` shows it as text, a notebook as a table; ``frame()`` is a DataFrame.

    Raises
    ------
    InvalidParameter
        There is no such method.

    Examples
    --------
    >>> import hcviz
    >>> print(hcviz.describe("single"))  # doctest: +ELLIPSIS
    Single linkage (single)
    Merges the two clusters with the nearest items. Best for speed ...
    Each item begins as a cluster of its own. ...
    Needs similarity.
    Constraints are hard.
      constraints = 'merge'
    ...
    """
    found = get(method)
    parameters = found.params.param
    return MethodDescription(
        found.name, found.title, found.summary, found.paper, found.needs, found.triplets,
        found.softened_by, found.how_it_works,
        tuple(
            (name, parameters[name].default, parameter_doc(parameters[name]))
            for name in found.parameter_names()
        ),
    )  # fmt: skip


__all__ = ["MethodDescription", "describe"]
