"""Lambda, from geometry to answers: a slider, and what each price buys."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.compute_cache import BackgroundRun, Computation
from hcviz.metrics import dasgupta_cost
from hcviz.session import actions as act
from hcviz.ui.features.node_costs import model as nodecosts
from hcviz.ui.features.node_costs.section import number
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.folding import folding
from hcviz.ui.state.store import Store

#: The curve's prices, in units of a typical similarity's power of ten.
GRID = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
#: Larger problems have no curve: eleven runs of 2,500 items take some five seconds.
MOST = 2_500
#: Steps of the slider above nought.
STEPS = 100


def there(store: Store) -> bool:
    """Whether the method in use always lets triplets be violated at a price, its parameter."""
    method = get_algorithm(store.session.method)
    return method.triplets == "soft" and bool(method.priced_by)


def picture(store: Store) -> dict[str, Any]:
    session, problem = store.session, nodecosts.weighed(store)
    if problem is None or not session.enabled:
        return {"said": "Without answers there is nothing to weigh: lambda changes nothing yet."}
    lam = nodecosts.asked_price(store) or 0.0
    unit = nodecosts.scale(store)
    points, tried, fault = curve(store, unit)
    now = _now(store, lam)
    return {
        "said": "",
        "lam": f"{lam:g}",
        "place": place(lam, unit),
        "steps": [f"{price(k, unit):g}" for k in range(STEPS + 1)],
        "points": points,
        "waiting": "" if problem.n_items > MOST else fault or _waiting(tried),
        "large": problem.n_items > MOST,
        "now": now,
        "weight": float(session.triplets.weights.sum()),
    }


def _waiting(there: int) -> str:
    return "" if there == len(GRID) else f"{there} of {len(GRID)} prices tried."


def price(step: int, unit: float) -> float:
    """The price at a step of the slider: 0, then evenly in its logarithm, two digits."""
    if step <= 0:
        return 0.0
    low, high = GRID[1] * unit, GRID[-1] * unit
    return float(f"{low * (high / low) ** ((min(step, STEPS) - 1) / (STEPS - 1)):.2g}")


def place(lam: float, unit: float) -> int:
    """The slider's step for a price: the nearest there is."""
    low, high = GRID[1] * unit, GRID[-1] * unit
    if lam <= 0:
        return 0
    share = np.log(lam / low) / np.log(high / low)
    return int(np.clip(1 + round(float(share) * (STEPS - 1)), 1, STEPS))


def curve(store: Store, unit: float) -> tuple[list[dict[str, Any]], int, str]:
    """What each price of the grid buys, as far as it is known; the rest is asked for.

    With it, how many were tried, and why one of them could not be.
    """
    problem, session = store.problem, store.session
    if problem.n_items > MOST:
        return [], 0, ""
    triplets = session.triplets
    priced_by = get_algorithm(session.method).priced_by
    others = {name: x for name, x in session.params.items() if name != priced_by}
    same = (session.method, repr(sorted(others.items())), session.triplets.rows.tobytes(),
            session.triplets.weights.tobytes(), session.seed)  # fmt: skip

    def read(snapshot: Snapshot) -> tuple[float, float, int]:
        broken = ~snapshot.tree.satisfies(triplets)
        cost = dasgupta_cost(snapshot.tree, problem.similarity_or_default)
        return cost, float(triplets.weights[broken].sum()), int(broken.sum())

    wanted: dict[Hashable, Computation] = {
        ("price", lam * unit, *same): BackgroundRun(
            session.method,
            lambda: problem.with_triplets(triplets),
            read,
            {**others, priced_by: lam * unit},
            session.seed,
        )
        for lam in GRID
    }
    still = store.still  # a run of the session's own goes first
    found = store.aside.ask("prices", wanted) if still else store.aside.known(wanted)
    tried = [(lam * unit, found.get(key)) for lam, key in zip(GRID, wanted, strict=True)]
    faults = [bought.message for _, bought in tried if isinstance(bought, HcvizError)]
    points = [_point(lam, *bought) for lam, bought in tried if isinstance(bought, tuple)]
    return points, len(found), next(iter(faults), "")


def _point(lam: float, cost: float, weight: float, count: int) -> dict[str, Any]:
    return {
        "lam": f"{lam:g}",
        "cost": cost,
        "weight": weight,
        "said": f"lambda {lam:g}: {count:,} violated, weight {weight:.3g}; cost {number(cost)}",
    }


def _now(store: Store, lam: float) -> dict[str, Any] | None:
    """Where the tree on the screen is, if it is of this problem."""
    snapshot, problem, triplets = store.drawn, store.problem, store.session.triplets
    if snapshot is None or snapshot.tree.n_leaves != problem.n_items:
        return None
    if problem.n_items > MOST:
        return None
    broken = ~snapshot.tree.satisfies(triplets)
    cost = dasgupta_cost(snapshot.tree, problem.similarity_or_default)
    return _point(lam, cost, float(triplets.weights[broken].sum()), int(broken.sum()))


def _act(actions: Actions, name: str, more: dict[str, Any]) -> None:
    store = actions.store
    if not there(store):
        return
    if name == "slide":
        lam = price(int(more.get("step", 0)), nodecosts.scale(store))
    elif name == "point":
        lam = float(more.get("lam", 0.0))
    else:
        return
    store.dispatch(
        act.SetParams(
            {get_algorithm(store.session.method).priced_by: lam},
            is_dragging=bool(more.get("goingOn")),
        )
    )


def _sees(store: Store) -> Any:
    session = store.session
    return (
        session.constraints, session.params, session.seed, session.data, session.status,
        store.dataset, store.drawn, store.answers,
    )  # fmt: skip


SECTION = folding(
    name="prices",
    title="From geometry to answers",
    there=there,
    opens=lambda store: True,
    picture=picture,
    sees=_sees,
    act=_act,
)
