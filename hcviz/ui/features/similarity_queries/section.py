"""The section Similarities asked for: queries, agreement, a slider for s, and the runs so far."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.active.framework import MAX_MASK_ITEMS
from hcviz.algorithms.declared_parts import SampledDivision
from hcviz.core.tree import Tree
from hcviz.jobs.compute_cache import Computation
from hcviz.metrics import triplet_agreement_by_level
from hcviz.session import actions as act
from hcviz.ui.features.learning_curve.section import target_distance
from hcviz.ui.features.similarity_queries import model as similarity_queries_model
from hcviz.ui.features.uncertainty_map import model as uncertainty_map_model
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.foldable import foldable_section
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Items for which the agreement of each tree of a run is computed (0.1 s), and items for which that
#: of the last tree is computed in the background (1 s, and 10 s by level).
MAX_ITEMS_LIVE, MAX_ITEMS = 20_000, 100_000
#: Number of steps of the slider, about.
SLIDER_STEPS = 60
_AGREEMENT_HELP = "The share of the triplets of the known tree that this tree has too."


def state(store: Store) -> dict[str, Any]:
    """Return the state of the section, as plain JSON."""
    runs = similarity_queries_model.finished_runs(store.session)
    levels = agreement_by_level(store, [each.tree for each in runs])
    return {
        "facts": _facts(store),
        "levels": levels[0] if runs and runs[0].present else [],
        **_slider(store),
        "queryMask": store.view.query_mask,
        "noQueryMask": _no_mask_because(store),
        "known": known_tree(store) is not None,
        "trials": _run_points(store, runs, levels),
    }


def known_tree(store: Store) -> Tree | None:
    """Return the known tree of the items; None during a lesson, or with too many items."""
    data = store.dataset
    if data is None or store.view.lesson is not None or data.labels != store.session.labels:
        return None
    known = data.target
    return (
        known
        if known is not None and known.n_internal > 1 and known.n_leaves <= MAX_ITEMS
        else None
    )


def _facts(store: Store) -> list[list[str]]:
    snapshot, known = store.session.snapshot, known_tree(store)
    found = similarity_queries_model.query_count(snapshot)
    facts: list[list[str]] = []
    if found is not None:
        facts.append(["Pairs asked for", f"{found.pairs:,}", "Each pair of items is counted once."])
        facts.append(["Share of all pairs", percent(found.share), ""])
        if found.second:
            more = "Similarities queried to check the place of an item."
            facts.append(["For rechecks", f"{found.second:,}", more])
    elif snapshot is not None:
        facts.append(["Pairs asked for", "counted at the end", ""])
    if known is not None and snapshot is not None and snapshot.tree.n_leaves == known.n_leaves:
        agrees = _agreement(store, known, snapshot.tree)
        agreement = "computed at the end"
        if agrees is not None:
            agreement = f"{1.0 if agrees == 1 else min(agrees, 0.9999):.4f}"
        facts.append(["Agreement with the known tree", agreement, _AGREEMENT_HELP])
    return facts


def _agreement(store: Store, known: Tree, tree: Tree) -> float | None:
    """Return the agreement of two trees, computed in the background for many items.

    None until it is computed, which begins when no run is in progress.
    """
    if tree.n_leaves <= MAX_ITEMS_LIVE:
        return 1 - target_distance(known, tree)
    key = ("agreement", tree)
    wanted: dict[Hashable, Computation] = {key: lambda: 1 - target_distance(known, tree)}
    still = not store.is_streaming
    found = (
        store.compute_cache.ask("agreement", wanted) if still else store.compute_cache.known(wanted)
    )
    agrees = found.get(key)
    return agrees if isinstance(agrees, float) else None


def agreement_by_level(store: Store, trees: list[Tree]) -> list[list[list[float]]]:
    """Return ``[level, share]`` for each level of the known tree (the root's is 1), for each tree.

    The lists are empty until they are computed in the background.
    """
    known = known_tree(store)
    if known is None:
        return [[] for _ in trees]

    def work(tree: Tree) -> Any:
        return lambda: triplet_agreement_by_level(known, tree)

    wanted: dict[Hashable, Computation] = {
        ("levels", tree): work(tree) for tree in trees if tree.n_leaves == known.n_leaves
    }
    still = not store.is_streaming
    found = (
        store.compute_cache.ask("levels", wanted) if still else store.compute_cache.known(wanted)
    )
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
    made = _sampled_division(session.method, session.params)
    values, default = slider_steps(made, n)
    if len(values) < 2:
        return {"slider": None, "noSlider": f"{n} items are too few to sample."}
    s = min(made.settings(n).s, n)
    return {
        "slider": {
            "steps": values,
            "s": s,
            "place": int(np.argmin(np.abs(np.log(values) - math.log(s)))),
            "default": [values.index(default), f"{made.c:g} ln n"] if default in values else None,
            "shares": _expected_shares(session.method, tuple(sorted(session.params.items())), n),
            "all": n,
        },
        "noSlider": "",
    }


def _sampled_division(name: str, params: Any) -> SampledDivision:
    method = get_algorithm(name)
    assert method.sampled_division is not None  # the section is shown for such methods only
    return method.sampled_division(method.parameters(**dict(params)))


def slider_steps(made: SampledDivision, n: int) -> tuple[list[int], int]:
    """Return the values of s on the slider, and the default value.

    Values increase evenly on a logarithmic scale, from 2 ln n (or the smallest s for k clusters) to
    n. The default c ln n is one of them if it is below n.
    """
    least = max(math.ceil(2 * math.log(max(n, 2))), (made.k or 2) + 1, 3)
    if least >= n:
        return [], 0
    default = max(least, math.ceil(made.c * math.log(n)))
    even = np.rint(np.geomspace(least, n, SLIDER_STEPS)).astype(int).tolist()
    if default < n:  # replaces the nearest value, so that no two are almost equal
        even[int(np.argmin(np.abs(np.array(even[:-1]) - default)))] = default
    return sorted(set(even)), default


@lru_cache(maxsize=32)
def _expected_shares(method: str, params: tuple[tuple[str, Any], ...], n: int) -> list[str]:
    """Return the share of all pairs that is queried at each step of the slider, about."""
    given = dict(params)
    values, _ = slider_steps(_sampled_division(method, given), n)
    return [percent(_sampled_division(method, {**given, "s": s}).expected_share(n)) for s in values]


def _run_points(
    store: Store, runs: list[similarity_queries_model.FinishedRun], levels: Any
) -> list[dict[str, Any]]:
    """Return the runs with a known agreement, ordered by the share of pairs that they queried."""
    n = len(store.session.labels)
    points = []
    for each, shares in zip(runs, levels, strict=True):
        if not shares:
            continue
        s = _sampled_division(each.method, each.params).settings(n).s
        agrees = float(np.mean([share for _, share in shares]))
        own = each.method == store.session.method
        title = "" if own else f"{get_algorithm(each.method).title}, "
        points.append({
            "x": each.count.share,
            "y": agrees,
            "s": s,
            "key": f"trial-{each.method}-{s}-{each.count.pairs}",
            "sentence": f"{title}s = {s:,}: {percent(each.count.share)} asked for, agreement "
                    f"{agrees:.3f}",
            "does": "Click to take this s." if own and not each.present else "",
            "now": each.present,
        })  # fmt: skip
    return sorted(points, key=lambda point: (point["x"], point["y"]))


def _no_mask_because(store: Store) -> str:
    """Return a sentence that says why the heatmap cannot be darkened, "" if it can."""
    snapshot = store.session.snapshot
    if uncertainty_map_model.shown_matrix(store) != "similarity":
        return "Choose Similarity above the tree to see what was asked for."
    if similarity_queries_model.snapshot_mask(snapshot) is not None:
        return ""
    if snapshot is None or "repair" not in snapshot.metrics:
        return "No similarity was asked for yet."
    if snapshot.tree.n_leaves > MAX_MASK_ITEMS:
        return f"The pairs that were asked for are kept for up to {MAX_MASK_ITEMS:,} items."
    return "The pairs that were asked for were not kept. Run again to see them."


def percent(share: float) -> str:
    """Return a share in per cent with three digits: ``45.6 %``, ``2.04 %``."""
    return f"{100 * share:.3g} %"


@ACTS.on("query-mask")
def _toggle_mask(actions: Actions) -> None:
    if similarity_queries_model.queries_similarities(actions.store):
        actions.store.change_view(query_mask=not actions.store.view.query_mask)


@ACTS.on("s")
def _set_sample_size(actions: Actions, value: int) -> None:
    store = actions.store
    if similarity_queries_model.queries_similarities(store):
        made = _sampled_division(store.session.method, store.session.params)
        _, default = slider_steps(made, len(store.session.labels))
        store.dispatch(act.SetParams({"s": None if value == default else value}))


def _depends_on(store: Store) -> Any:
    session = store.session
    return (
        session.snapshot, session.params, session.method, session.past, session.future,
        session.data, session.status, store.dataset, store.view.query_mask, store.view.lesson,
        uncertainty_map_model.shown_matrix(store), store.n_computed,
    )  # fmt: skip


SECTION = foldable_section(
    name="queries",
    title="Similarities asked for",
    is_shown=lambda store: (
        similarity_queries_model.queries_similarities(store) and store.dataset is not None
    ),
    is_open_at_first=lambda store: True,
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
)
