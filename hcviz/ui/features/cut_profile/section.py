"""How the selected clade could be cut: the sweep, its sparsest cut, and the tree's own."""

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
from hcviz.ui.features.node_costs import model as nodecosts
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.folding import folding, structural
from hcviz.ui.state.store import Store

#: Larger clades are not swept: 3,000 items take half a second and 140 MB.
MOST = 3_000
#: Points of a curve, at most.
POINTS = 240


@dataclass(frozen=True)
class Cuts:
    """The sweep of a clade, and cuts of it as items on the sweep's first side and ratio.

    ``best`` is the one that the method takes, ``kind`` what it is called; ``own`` the tree's, None
    where the tree parts the clade into more than two. ``bound``: where no cut leaves a third on
    each side though that is wanted, the items that answers bind into one, else 0.
    """

    profile: CutProfile
    best: tuple[int, float]
    kind: str
    own: tuple[int, float] | None
    bound: int = 0
    balanced: bool = False


def clade(store: Store, tree: Tree) -> int:
    """The node that is looked at: the smallest with all that is selected; else the root."""
    chosen = store.view.selection
    if not chosen or max(chosen) >= tree.n_leaves:
        return int(tree.root)
    node = tree.smallest_clade(chosen)
    return int(tree.parent[node]) if node < tree.n_leaves and node != tree.root else node


def picture(store: Store) -> dict[str, Any]:
    problem, snapshot = nodecosts.weighed(store), store.drawn
    if problem is None or snapshot is None or snapshot.tree.n_leaves != problem.n_items:
        return {"said": "No tree yet."}
    if not store.still:
        return {"said": "It is worked out when the tree stands still."}
    tree = snapshot.tree
    if tree.n_leaves < 2:
        return {"said": "One item cannot be cut."}
    node = clade(store, tree)
    items = tree.leaves(node)
    if items.size > MOST:
        return {"said": f"Told for clades of up to {MOST:,} items: select a smaller one."}
    triplets, lam = _answers(store)
    sides = [tree.leaves(int(child)) for child in tree.children(node)]
    balanced = get_algorithm(store.session.method).balanced
    key = ("profile", *(side.tobytes() for side in sides), triplets.rows.tobytes(),
           triplets.weights.tobytes(), lam, balanced)  # fmt: skip
    found = store.aside.ask(
        "profile",
        {key: lambda: _cuts(problem.with_triplets(triplets), items, sides, lam, balanced)},
    ).get(key)
    if found is None:
        return {"said": "Being worked out."}
    if isinstance(found, HcvizError):
        return {"said": found.message}
    return drawn(found, items.size, node == tree.root)


def _answers(store: Store) -> tuple[Any, float | None]:
    """The triplets that the method heeds, and what it takes for a violated one (None: all hold)."""
    session = store.session
    if session.treats == "ignored":
        return session.triplets[[]], None
    return session.triplets, nodecosts.asked_price(store)


def _cuts(
    problem: Problem,
    items: NDArray[Any],
    sides: list[NDArray[Any]],
    lam: float | None,
    balanced: bool,
) -> Cuts:
    low = lowest_similarity(problem, True)
    profile = cut_profile(problem, items, low, lam)
    order = np.concatenate(profile.supernodes)

    def parted(one: NDArray[Any], other: NDArray[Any]) -> tuple[int, float]:
        ratio = cut_ratio(problem, one, other, low, lam)
        # Of the two sides the one that is more the sweep's first.
        first = max((one, other), key=lambda side: np.isin(order[: side.size], side).mean())
        return int(first.size), ratio

    own = parted(sides[0], sides[1]) if len(sides) == 2 else None
    if balanced and profile.best_balanced < 0:  # as run_crbc: the largest is cut off alone
        largest = max(profile.supernodes, key=len)
        best = parted(largest, np.setdiff1d(items, largest))
        if 3 * len(largest) > 2 * items.size:
            return Cuts(profile, best, "most even cut", own, len(largest), True)
        return Cuts(profile, best, "lightest balanced cut", own, 0, True)
    at = profile.best_balanced if balanced else profile.best
    best = int(profile.inside[at]), float(profile.ratio[at])
    kind = "lightest balanced sweep cut" if balanced else "sparsest sweep cut"
    return Cuts(profile, best, kind, own, 0, balanced)


def drawn(cuts: Cuts, size: int, whole: bool) -> dict[str, Any]:
    """The curve and its marks: [items on the first side, mean similarity across the cut]."""
    profile = cuts.profile
    k = len(profile.supernodes)
    bound = "" if k == size else f" Answers bind the items into {k:,} that travel as one."
    pieces = ""
    if profile.pieces > 1:
        pieces = f" They fall into {profile.pieces:,} pieces with nothing between them."
    return {
        "said": "",
        "size": size,
        "curve": thinned(profile, cuts.best[0]),
        "best": list(cuts.best),
        "own": None if cuts.own is None else list(cuts.own),
        "third": cuts.balanced,
        "facts": _facts(cuts, size),
        "words": ("All items: " if whole else "") + _words(cuts, size, whole) + bound + pieces,
    }


def thinned(profile: CutProfile, inside: int) -> list[list[float]]:
    """At most ``POINTS`` of the curve and the cut with ``inside`` items on its first side, if it is
    of it: of each stretch the least, so that no valley is lost."""
    count = len(profile.ratio)
    ends = np.linspace(0, count, min(count, POINTS) + 1).astype(int)
    kept = {int(a + np.argmin(profile.ratio[a:b])) for a, b in pairwise(ends.tolist())}
    kept |= {0, count - 1, *np.flatnonzero(profile.inside == inside).tolist()}
    return [[int(profile.inside[i]), float(f"{profile.ratio[i]:.6g}")] for i in sorted(kept)]


def _facts(cuts: Cuts, size: int) -> list[list[str]]:
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


def _words(cuts: Cuts, size: int, whole: bool) -> str:
    inside, least = cuts.best
    begin = "the" if whole else "The"
    if cuts.bound:
        begin = f"{'no' if whole else 'No'} cut leaves a third on each side, for answers bind "
        begin += f"{cuts.bound:,} of {size:,} items into one. The"
    said = f"{begin} {cuts.kind} parts {min(inside, size - inside):,} of {size:,} items"
    if cuts.own is None:
        return f"{said}; the tree parts them into more than two at once."
    small = min(cuts.own[0], size - cuts.own[0])
    if small == min(inside, size - inside) and abs(cuts.own[1] - least) <= 1e-6 * abs(least):
        return f"{said}, and so does the tree."
    if least <= 0:
        return f"{said}; the tree parts {small:,}."
    times = cuts.own[1] / least
    told = f"{times:.2f}" if abs(times - 1) >= 0.005 else f"{times:.4f}"
    return f"{said}; the tree parts {small:,}, at {told} times the mean similarity across."


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    return None


def _sees(store: Store) -> Any:
    session = store.session
    return (
        store.drawn, store.view.selection, session.constraints, session.method, session.params,
        session.data, store.dataset, store.answers, store.still,
    )  # fmt: skip


SECTION = folding(
    name="profile",
    title="How it could be cut",
    there=lambda store: nodecosts.weighed(store) is not None and not nodecosts.wants_far(store),
    opens=structural,
    picture=picture,
    sees=_sees,
    act=_act,
)
