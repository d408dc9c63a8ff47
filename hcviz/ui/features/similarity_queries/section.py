"""What an active method asked for, and what fewer or more would bring: s, and the runs so far."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.active.framework import MAX_MASK_ITEMS
from hcviz.algorithms.base import SampledDivision
from hcviz.core.tree import Tree
from hcviz.jobs.aside import Work
from hcviz.metrics import triplet_agreement_by_level
from hcviz.session import actions as act
from hcviz.ui.features.learning_curve.section import distance
from hcviz.ui.features.similarity_queries import model as probes
from hcviz.ui.features.uncertainty_map import model as uncertainty
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.folding import folding
from hcviz.ui.state.store import Store

#: Above this the agreement of each tree that streams in would hold the page up: 20,000 take 0.1 s.
#: Then that of the last is worked out beside it: 100,000 take a second, and ten by level.
LIVE, MOST = 20_000, 100_000
#: Places of the slider, about.
STEPS = 60
_AGREES = "Of the triplets that the known tree resolves, the share that this one has too."


def picture(store: Store) -> dict[str, Any]:
    runs = probes.trials(store.session)
    levels = by_level(store, [each.tree for each in runs])
    return {
        "facts": _facts(store),
        "levels": levels[0] if runs and runs[0].present else [],
        **_slider(store),
        "veil": store.view.veil,
        "noVeil": _unveiled(store),
        "known": target(store) is not None,
        "trials": _trials(store, runs, levels),
    }


def target(store: Store) -> Tree | None:
    """The hierarchy that is known of the items; None while a lesson hides it, and of too many."""
    data = store.dataset
    if data is None or store.view.lesson is not None or data.labels != store.session.labels:
        return None
    known = data.target
    return known if known is not None and known.n_internal > 1 and known.n_leaves <= MOST else None


def _facts(store: Store) -> list[list[str]]:
    snapshot, known = store.session.snapshot, target(store)
    found = probes.count(snapshot)
    facts: list[list[str]] = []
    if found is not None:
        facts.append(["Pairs asked for", f"{found.pairs:,}", "Each pair of items is counted once."])
        facts.append(["Share of all pairs", percent(found.share), ""])
        if found.second:
            more = "Similarities asked for again where a placement was in doubt."
            facts.append(["For second looks", f"{found.second:,}", more])
    elif snapshot is not None:
        facts.append(["Pairs asked for", "counted at the end", ""])
    if known is not None and snapshot is not None and snapshot.tree.n_leaves == known.n_leaves:
        agrees = _agreement(store, known, snapshot.tree)
        told = "worked out at the end"
        if agrees is not None:
            told = f"{1.0 if agrees == 1 else min(agrees, 0.9999):.4f}"
        facts.append(["Agreement with the known tree", told, _AGREES])
    return facts


def _agreement(store: Store, known: Tree, tree: Tree) -> float | None:
    """At once, or of many items beside the page, once the tree stands still: None until then."""
    if tree.n_leaves <= LIVE:
        return 1 - distance(known, tree)
    key = ("agreement", tree)
    wanted: dict[Hashable, Work] = {key: lambda: 1 - distance(known, tree)}
    still = store.still
    found = store.aside.ask("agreement", wanted) if still else store.aside.known(wanted)
    agrees = found.get(key)
    return agrees if isinstance(agrees, float) else None


def by_level(store: Store, trees: list[Tree]) -> list[list[list[float]]]:
    """For each tree ``[level, share]`` of the known tree's levels from 1, the root's; empty until
    it is worked out, beside the page and once the tree stands still."""
    known = target(store)
    if known is None:
        return [[] for _ in trees]

    def work(tree: Tree) -> Any:
        return lambda: triplet_agreement_by_level(known, tree)

    wanted: dict[Hashable, Work] = {
        ("levels", tree): work(tree) for tree in trees if tree.n_leaves == known.n_leaves
    }
    still = store.still
    found = store.aside.ask("levels", wanted) if still else store.aside.known(wanted)
    shares = [found.get(("levels", tree)) for tree in trees]
    return [
        [[k + 1, float(x)] for k, x in enumerate(each) if np.isfinite(x)]
        if isinstance(each, np.ndarray)
        else []
        for each in shares
    ]


def _slider(store: Store) -> dict[str, Any]:
    session = store.session
    n = len(session.labels)
    made = _made(session.method, session.params)
    values, usual = steps(made, n)
    if len(values) < 2:
        return {"slider": None, "noSlider": f"{n} items are too few to sample."}
    s = min(made.settings(n).s, n)
    return {
        "slider": {
            "steps": values,
            "s": s,
            "place": int(np.argmin(np.abs(np.log(values) - math.log(s)))),
            "usual": [values.index(usual), f"{made.c:g} ln n"] if usual in values else None,
            "shares": _foreseen(session.method, tuple(sorted(session.params.items())), n),
            "all": n,
        },
        "noSlider": "",
    }


def _made(name: str, params: Any) -> SampledDivision:
    method = get_algorithm(name)
    assert method.sampled_division is not None  # the section is there only where it is declared
    return method.sampled_division(method.parameters(**dict(params)))


def steps(made: SampledDivision, n: int) -> tuple[list[int], int]:
    """The slider's values of s, increasing, evenly in their logarithm, from 2 ln n (or what the
    clusters need) to n; and the usual one, c ln n, which is among them unless it is n or more."""
    least = max(math.ceil(2 * math.log(max(n, 2))), (made.k or 2) + 1, 3)
    if least >= n:
        return [], 0
    usual = max(least, math.ceil(made.c * math.log(n)))
    even = np.rint(np.geomspace(least, n, STEPS)).astype(int).tolist()
    if usual < n:  # in the place of its neighbour, so that no two are alike
        even[int(np.argmin(np.abs(np.array(even[:-1]) - usual)))] = usual
    return sorted(set(even)), usual


@lru_cache(maxsize=32)
def _foreseen(method: str, params: tuple[tuple[str, Any], ...], n: int) -> list[str]:
    """About the share that each of the slider's values asks for."""
    given = dict(params)
    values, _ = steps(_made(method, given), n)
    return [percent(_made(method, {**given, "s": s}).expected_share(n)) for s in values]


def _trials(store: Store, runs: list[probes.Trial], levels: Any) -> list[dict[str, Any]]:
    """The runs whose agreement is known, by the share they asked for."""
    n = len(store.session.labels)
    points = []
    for each, shares in zip(runs, levels, strict=True):
        if not shares:
            continue
        s = _made(each.method, each.params).settings(n).s
        agrees = float(np.mean([share for _, share in shares]))
        own = each.method == store.session.method
        title = "" if own else f"{get_algorithm(each.method).title}, "
        points.append({
            "x": each.count.share,
            "y": agrees,
            "s": s,
            "key": f"trial-{each.method}-{s}-{each.count.pairs}",
            "said": f"{title}s = {s:,}: {percent(each.count.share)} asked for, agreement "
                    f"{agrees:.3f}",
            "does": "Click to take this s." if own and not each.present else "",
            "now": each.present,
        })  # fmt: skip
    return sorted(points, key=lambda point: (point["x"], point["y"]))


def _unveiled(store: Store) -> str:
    """Why there is nothing to darken, as a sentence; "" if there is."""
    snapshot = store.session.snapshot
    if uncertainty.matrix(store) != "similarity":
        return "Choose Similarity above the tree to see what was asked for."
    if probes.of_snapshot(snapshot) is not None:
        return ""
    if snapshot is None or "repair" not in snapshot.metrics:
        return "Nothing was asked for yet."
    if snapshot.tree.n_leaves > MAX_MASK_ITEMS:
        return f"Which pairs were asked for is only kept of up to {MAX_MASK_ITEMS:,} items."
    return "Which pairs were asked for is not kept for a tree this large: run again to see."


def percent(share: float) -> str:
    """Three digits: ``45.6 %``, ``2.04 %``."""
    return f"{100 * share:.3g} %"


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if not probes.asks(store):
        return
    if name == "veil":
        store.look(veil=not store.view.veil)
    elif name == "s":
        made = _made(store.session.method, store.session.params)
        _, usual = steps(made, len(store.session.labels))
        s = int(more.get("value", 0))
        store.dispatch(act.SetParams({"s": None if s == usual else s}))


def _sees(store: Store) -> Any:
    session = store.session
    return (
        session.snapshot, session.params, session.method, session.past, session.future,
        session.data, session.status, store.dataset, store.view.veil, store.view.lesson,
        uncertainty.matrix(store), store.answers,
    )  # fmt: skip


SECTION = folding(
    name="asked",
    title="Similarities asked for",
    there=lambda store: probes.asks(store) and store.dataset is not None,
    opens=lambda store: True,
    picture=picture,
    sees=_sees,
    act=_act,
)
