"""How methods agree: the adjusted Rand index of each two, their trees cut into k clusters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.tree import Tree
from hcviz.metrics import adjusted_rand_index, cut
from hcviz.session import actions as act
from hcviz.ui import agreeing
from hcviz.ui.gestures import Gestures
from hcviz.ui.sheets.base import Sheet, drawn_by
from hcviz.ui.store import Store

#: The row that is no method's.
CLASSES = "known classes"


@lru_cache(maxsize=256)
def _cut(tree: Tree, k: int) -> NDArray[np.int32]:
    return cut(tree, k)


def clusters(store: Store) -> int:
    """How many clusters the trees are cut into: as chosen here, as coloured, as there are classes,
    as the method found; else 4."""
    n = len(store.session.labels)
    view, data, snapshot = store.view, store.dataset, store.session.snapshot
    found = view.agree_k or view.clusters
    if not found and data is not None and data.classes is not None:
        found = len({name for name in data.classes if name is not None})
    if not found and snapshot is not None:
        found = int(snapshot.metrics.get("k", 0))
    return max(1, min(found or 4, n))


def matrix(partitions: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
    """The ARI of each two, float64 (m, m), over the items that both label (-1: none). O(m^2 n)."""
    m = len(partitions)
    found = np.ones((m, m))
    for a in range(m):
        for b in range(a):
            both = (partitions[a] >= 0) & (partitions[b] >= 0)
            first, second = partitions[a][both], partitions[b][both]
            value = adjusted_rand_index(first, second) if first.size else float("nan")
            found[a, b] = found[b, a] = value
    return found


def picture(store: Store) -> dict[str, Any]:
    session, view = store.session, store.view
    if store.dataset is None or store.dataset.labels != session.labels:
        return {}
    k = clusters(store)
    made = [(name, tree, said) for name, tree, said in view.agreed if tree is not None]
    rows = [{"name": n, "title": get_algorithm(n).title, "said": said} for n, _, said in made]
    partitions = [_cut(tree, k) for _, tree, _ in made]
    if store.dataset.classes is not None and rows:
        rows.append({"name": "", "title": CLASSES, "said": ""})
        partitions.append(_codes(store.dataset.classes))
    values = matrix(partitions)
    picked = agreeing.chosen(store)
    waiting = view.agree_wanted and not view.agreeing
    return {
        "k": k,
        "items": len(session.labels),
        "methods": [
            [name, get_algorithm(name).title, name in picked]
            for name in agreeing.able(store.problem)
        ],
        "left": len([name for name in picked if name not in {n for n, *_ in view.agreed}]),
        "rows": rows,
        "counts": [int(p.max()) + 1 for p in partitions],
        "values": [[None if np.isnan(v) else round(float(v), 4) for v in row] for row in values],
        "failed": [[get_algorithm(n).title, said] for n, tree, said in view.agreed if tree is None],
        "running": get_algorithm(view.agreeing).title if view.agreeing else "",
        "waiting": waiting,
        "now": session.method,
        "said": in_words([row["title"] for row in rows], values),
    }


def in_words(titles: Sequence[str], values: NDArray[np.float64]) -> str:
    """Who agrees most, who least, and who is nearest to the known classes."""
    m = len(titles)
    methods = [i for i in range(m) if titles[i] != CLASSES]
    pairs = [(values[a, b], a, b) for a in methods for b in methods if a < b]
    if not pairs:
        return ""
    most, least = max(pairs), min(pairs)
    said = f"Most alike: “{titles[most[1]]}” and “{titles[most[2]]}” ({_number(most[0])})."
    if len(pairs) > 1:
        said += f" Least: “{titles[least[1]]}” and “{titles[least[2]]}” ({_number(least[0])})."
    if CLASSES in titles:
        to = values[titles.index(CLASSES)]
        near = max(methods, key=lambda i: to[i])
        said += f" Nearest to the known classes: “{titles[near]}” ({_number(to[near])})."
    return said


def _number(value: float) -> str:
    return f"{value if abs(value) >= 0.005 else 0.0:.2f}".replace("-", "−")


def _codes(classes: Sequence[str | None]) -> NDArray[np.int32]:
    """A number for each class, -1 where it is not known."""
    names = sorted({name for name in classes if name is not None})
    code = {name: k for k, name in enumerate(names)}
    return np.array([-1 if c is None else code[c] for c in classes], np.int32)


def _sees(store: Store) -> Any:
    view = store.view
    return (
        view.agreed, view.agreeing, view.agree_wanted, view.agree_k, view.agree_with,
        view.clusters, store.session.method, store.dataset, store.session.choices,
    )  # fmt: skip


def _act(gestures: Gestures, name: str, more: dict[str, Any]) -> None:
    store = gestures.store
    value = more.get("value")
    if name == "run":
        store.look(agree_wanted=True)
    elif name == "cancel":
        store.look(agree_wanted=False)
    elif name == "clusters":
        try:
            count = int(str(value))
        except ValueError:
            count = 0
        n = len(store.session.labels)
        if 1 <= count <= n:
            store.look(agree_k=count, error=None)
        else:
            said = f"The number of clusters must be a whole number from 1 to {n}, not {value!r}."
            store.look(error=(said, ""))
    elif name == "with":
        picked = list(agreeing.chosen(store))
        method = str(value)
        if method in picked:
            picked.remove(method)
        elif method in agreeing.able(store.problem):
            picked.append(method)
        store.look(agree_with=tuple(picked))
    elif name == "method" and value in agreeing.able(store.problem):
        method_ = get_algorithm(str(value))
        store.dispatch(act.SetMethod(method_.name, method_.triplets))


SHEET = Sheet(
    name="agreement",
    title="Agreement",
    summary="How the clusters of several methods agree",
    make=drawn_by("agreement"),
    picture=picture,
    sees=_sees,
    act=_act,
)
