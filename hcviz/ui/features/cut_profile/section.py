"""The section How it could be cut: the sweep cuts of a clade, its best cut, and the tree's cut."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.structural.crsc import lowest_similarity
from hcviz.algorithms.structural.profile import CutProfile, cut_profile, cut_ratio
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.parts.foldable import foldable_section, minimises_cost
from hcviz.ui.state.store import Store

#: Items of a clade for which the profile is computed, at most: it takes 0.5 s and 140 MB.
MAX_ITEMS = 3_000
#: Points of a curve, at most.
MAX_POINTS = 240


@dataclass(frozen=True)
class CutComparison:
    """The sweep cuts of a clade, its best cut, and the cut of the tree.

    A cut is a pair: the number of items on the first side of the sweep, and the ratio.

    Parameters
    ----------
    profile : CutProfile
    best : tuple of (int, float)
        The cut that the method takes.
    kind : str
        Name of that cut.
    own : tuple of (int, float) or None
        The cut of the tree; None if the tree divides the clade into more than two.
    bound : int
        If no cut leaves a third of the items on each side, because constraints bind too many items
        together: their number, else 0.
    balanced : bool
        The method takes balanced cuts.
    """

    profile: CutProfile
    best: tuple[int, float]
    kind: str
    own: tuple[int, float] | None
    bound: int = 0
    balanced: bool = False


def shown_clade(store: Store, tree: Tree) -> int:
    """Return the node of the smallest clade with all selected items, else the root."""
    chosen = store.view.selection
    if not chosen or max(chosen) >= tree.n_leaves:
        return int(tree.root)
    node = tree.smallest_clade(chosen)
    return int(tree.parent[node]) if node < tree.n_leaves and node != tree.root else node


def state(store: Store) -> dict[str, Any]:
    """Return the state of the section, as plain JSON."""
    problem, snapshot = node_costs_model.problem_with_costs(store), store.drawn
    if problem is None or snapshot is None or snapshot.tree.n_leaves != problem.n_items:
        return {"sentence": "No tree yet."}
    if store.is_streaming:
        return {"sentence": "Computed when the run has finished."}
    tree = snapshot.tree
    if tree.n_leaves < 2:
        return {"sentence": "One item cannot be cut."}
    node = shown_clade(store, tree)
    items = tree.leaves(node)
    if items.size > MAX_ITEMS:
        return {
            "sentence": f"Available for branches up to {MAX_ITEMS:,} items: select a smaller one."
        }
    known = node_costs_model.constrained_problem(store, problem)
    lam = None
    if store.session.constraint_mode != "ignored":
        lam = node_costs_model.violation_price(store)
    sides = [tree.leaves(int(child)) for child in tree.children(node)]
    balanced = get_algorithm(store.session.method).balanced
    key = ("profile", *(side.tobytes() for side in sides), known.constraint_rows.tobytes(),
           known.triplets.weights.tobytes(), lam, balanced)  # fmt: skip
    found = store.compute_cache.ask(
        "profile",
        {key: lambda: compare_cuts(known, items, sides, lam, balanced)},
    ).get(key)
    if found is None:
        return {"sentence": "Computing…"}
    if isinstance(found, HcvizError):
        return {"sentence": found.message}
    return profile_state(found, items.size, node == tree.root)


def compare_cuts(
    problem: Problem,
    items: NDArray[Any],
    sides: list[NDArray[Any]],
    lam: float | None,
    balanced: bool,
) -> CutComparison:
    low = lowest_similarity(problem, True)
    profile = cut_profile(problem, items, low, lam)
    order = np.concatenate(profile.supernodes)

    def cut_of(one: NDArray[Any], other: NDArray[Any]) -> tuple[int, float]:
        ratio = cut_ratio(problem, one, other, low, lam)
        # The first side is the one with more of the first items of the sweep.
        first = max((one, other), key=lambda side: np.isin(order[: side.size], side).mean())
        return int(first.size), ratio

    own = cut_of(sides[0], sides[1]) if len(sides) == 2 else None
    if balanced and profile.best_balanced < 0:  # as in run_crbc, the largest supernode is one side
        largest = max(profile.supernodes, key=len)
        best = cut_of(largest, np.setdiff1d(items, largest))
        if 3 * len(largest) > 2 * items.size:
            return CutComparison(profile, best, "most even cut", own, len(largest), True)
        return CutComparison(profile, best, "lightest balanced cut", own, 0, True)
    at = profile.best_balanced if balanced else profile.best
    best = int(profile.inside[at]), float(profile.ratio[at])
    kind = "lightest balanced sweep cut" if balanced else "sparsest sweep cut"
    return CutComparison(profile, best, kind, own, 0, balanced)


def profile_state(cuts: CutComparison, size: int, whole: bool) -> dict[str, Any]:
    """Return the curve and its marks as [items on the first side, mean similarity across]."""
    profile = cuts.profile
    k = len(profile.supernodes)
    bound = "" if k == size else f" Answers bind the items into {k:,} groups."
    pieces = ""
    if profile.pieces > 1:
        pieces = f" They fall into {profile.pieces:,} pieces with nothing between them."
    return {
        "sentence": "",
        "size": size,
        "curve": thin_curve(profile, cuts.best[0]),
        "best": list(cuts.best),
        "own": None if cuts.own is None else list(cuts.own),
        "third": cuts.balanced,
        "facts": _facts(cuts, size),
        "words": ("All items: " if whole else "") + _sentence(cuts, size, whole) + bound + pieces,
    }


def thin_curve(profile: CutProfile, inside: int) -> list[list[float]]:
    """Return at most ``MAX_POINTS`` of the curve, with its minimum in each of as many ranges.

    Both ends and the cut with ``inside`` items on the first side are kept too.
    """
    count = len(profile.ratio)
    ends = np.linspace(0, count, min(count, MAX_POINTS) + 1).astype(int)
    kept = {int(a + np.argmin(profile.ratio[a:b])) for a, b in pairwise(ends.tolist())}
    kept |= {0, count - 1, *np.flatnonzero(profile.inside == inside).tolist()}
    return [[int(profile.inside[i]), float(f"{profile.ratio[i]:.6g}")] for i in sorted(kept)]


def _facts(cuts: CutComparison, size: int) -> list[list[str]]:
    inside, ratio = cuts.best
    name = cuts.kind.replace("balanced sweep", "balanced").capitalize()
    facts = [[name, _sides(inside, size, ratio)]]
    if cuts.own is not None:
        facts.append(["The tree's cut", _sides(*(cuts.own[0], size, cuts.own[1]))])
    share = min(inside, size - inside) / size
    return [*facts, ["Balance", f"{100 * share:.0f} % on the smaller side"]]


def _sides(inside: int, size: int, ratio: float) -> str:
    small = min(inside, size - inside)
    return f"{small:,} | {size - small:,} at {ratio:.4g}"


def _sentence(cuts: CutComparison, size: int, whole: bool) -> str:
    inside, least = cuts.best
    begin = "the" if whole else "The"
    if cuts.bound:
        begin = f"{'no' if whole else 'No'} cut leaves a third on each side, for answers bind "
        begin += f"{cuts.bound:,} of {size:,} items into one. The"
    text = f"{begin} {cuts.kind} separates {min(inside, size - inside):,} of {size:,} items"
    if cuts.own is None:
        return f"{text}; the tree divides them into more than two at once."
    small = min(cuts.own[0], size - cuts.own[0])
    if small == min(inside, size - inside) and abs(cuts.own[1] - least) <= 1e-6 * abs(least):
        return f"{text}, and so does the tree."
    if least <= 0:
        return f"{text}; the tree separates {small:,}."
    times = cuts.own[1] / least
    ratio = f"{times:.2f}" if abs(times - 1) >= 0.005 else f"{times:.4f}"
    return f"{text}; the tree separates {small:,}, at {ratio} times the mean similarity across."


def _depends_on(store: Store) -> Any:
    session = store.session
    return (
        store.drawn, store.view.selection, session.constraints, session.method, session.params,
        session.data, store.dataset, store.n_computed, store.is_streaming,
    )  # fmt: skip


SECTION = foldable_section(
    name="profile",
    title="How it could be cut",
    is_shown=lambda store: (
        node_costs_model.problem_with_costs(store) is not None
        and not node_costs_model.reads_dissimilarities(store)
    ),
    is_open_at_first=minimises_cost,
    state=state,
    depends_on=_depends_on,
)
