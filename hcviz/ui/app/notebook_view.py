"""``ExplorerView``: what :func:`hcviz.explore` returns, with its results as attributes."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import param
from bokeh.document import Document
from bokeh.models.ui import UIElement
from bokeh.resources import INLINE
from panel.io.notebook import patch_inline_stylesheets
from panel.io.save import save
from panel.viewable import Viewer

from hcviz.algorithms import get
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset
from hcviz.session.constraint import Constraint
from hcviz.session.model import Session
from hcviz.taxonomy import Taxonomy
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.features.groups.places import shown_taxonomy
from hcviz.ui.state.store import Store

#: What a saved page says above its first line.
SAVED_NOTE = (
    '<p role="note" style="margin:0;padding:8px 12px;background:#fff4ce;color:#333;'
    'font:14px sans-serif">This is a saved page. The tree and the heatmap can be zoomed. Buttons '
    "need a running hcviz, so they do nothing here.</p>"
)


class ExplorerView(Viewer):
    """The page in a notebook, and its results. ``view.param.watch(f, "tree")`` calls ``f``.

    Attributes
    ----------
    tree : Tree or None
        The tree on the screen, with names and info; None before the first one.
    constraints : tuple of Constraint
        The enabled constraints, in the order of the list.
    taxonomy : Taxonomy or None
        The named groups on this tree; None without groups.
    problem : Problem or None
        The data with the enabled constraints, for :func:`hcviz.fit`.
    session : Session
        Everything that undo and session files know.
    explorer : Explorer
        The page's parts.
    given : Dataset or None
        The data that were given. They are kept as long as the view.
    """

    tree: Tree | None = param.Parameter(constant=True)  # type: ignore[assignment]
    constraints: tuple[Constraint, ...] = param.Parameter((), constant=True)  # type: ignore[assignment]
    taxonomy: Taxonomy | None = param.Parameter(constant=True)  # type: ignore[assignment]
    problem: Problem | None = param.Parameter(constant=True)  # type: ignore[assignment]
    session: Session = param.Parameter(constant=True)  # type: ignore[assignment]

    def __init__(self, explorer: Explorer, given: Dataset | None) -> None:
        super().__init__()
        self.explorer, self.given = explorer, given
        self._shown: Any = None
        explorer.store.subscribe(
            lambda store: (store.session, store.drawn, store.view.lesson),
            lambda _: self._update(explorer.store),
        )

    def _update(self, store: Store) -> None:
        """Set the attributes that changed."""
        session, drawn = store.session, store.drawn
        found: dict[str, Any] = {"session": session, "taxonomy": shown_taxonomy(store)}
        same_answers = self.session is not None and self.constraints == session.enabled
        if not same_answers:
            found["constraints"] = session.enabled
        if store.dataset is not None and (
            not same_answers or self.problem is None or self._data is not store.problem
        ):
            self._data = store.problem
            found["problem"] = (
                store.problem.with_triplets(session.triplets)
                .with_groups(session.required_clades)
                .with_not_groups(session.avoided_clades)
            )
        if drawn is not self._shown:
            self._shown = drawn
            found["tree"] = (
                None
                if drawn is None
                else self._named(drawn.tree, store, found.get("problem", self.problem))
            )
        changed = {name: value for name, value in found.items() if getattr(self, name) is not value}
        with param.edit_constant(self):
            self.param.update(**changed)

    _data: Problem | None = None

    @staticmethod
    def _named(tree: Tree, store: Store, problem: Problem | None) -> Tree:
        session = store.session
        if tree.n_leaves != len(session.labels):
            return tree
        info = get(session.method).info(problem or store.problem, session.params, session.seed)
        return tree.with_labels(session.labels).with_info(info)

    def __panel__(self) -> Any:
        return self.explorer.view

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the page's frame, which Panel shows."""
        if name.startswith("__") or "explorer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.explorer.view, name)

    def save(self, filename: str | Path, title: str = "hcviz") -> None:
        """Write the page as it is to one HTML file that works without a network.

        Parameters
        ----------
        filename : str or Path
            The file. Its tree and heatmap can be zoomed; buttons need the running page.
        title : str
            Title of the document.
        """
        document = Document()
        document.add_root(self.explorer.view.get_root(document))
        for model in document.models:
            if isinstance(model, UIElement):
                patch_inline_stylesheets(model)
        page = io.StringIO()
        save(document, page, title=title, resources=INLINE)
        # Panel's template links icons of another host.
        text = re.sub(r'<link [^>]*href="https?://[^>]*>', "", page.getvalue())
        text = re.sub(r"<body[^>]*>", lambda found: found[0] + SAVED_NOTE, text, count=1)
        Path(filename).write_text(text, encoding="utf-8")


__all__ = ["ExplorerView"]
