"""The section From geometry to answers: a slider for lambda, and the tree at each price."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.compute_cache import BackgroundRun, Computation
from hcviz.metrics import dasgupta_cost
from hcviz.session import actions as act
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.features.node_costs.section import format_cost
from hcviz.ui.parts.actions import Actions
from hcviz.ui.parts.foldable import foldable_section
from hcviz.ui.parts.messages import Acts
from hcviz.ui.state.store import Store

ACTS = Acts()

#: Prices of the curve, in units of :func:`~hcviz.ui.features.node_costs.model.similarity_scale`.
GRID = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
#: Items for which the curve is computed, at most: eleven runs then take about five seconds.
MAX_ITEMS = 2_500
#: Steps of the slider above 0.
SLIDER_STEPS = 100


def is_shown(store: Store) -> bool:
    """Return True if the constraints of the method are always soft, at a price."""
    method = get_algorithm(store.session.method)
    return method.triplets == "soft" and bool(method.priced_by)


def state(store: Store) -> dict[str, Any]:
    """Return the state of the section, as plain JSON."""
    session, problem = store.session, node_costs_model.problem_with_costs(store)
    if problem is None or not session.enabled:
        return {"sentence": "There are no answers yet, so lambda changes nothing."}
    lam = node_costs_model.violation_price(store) or 0.0
    unit = node_costs_model.similarity_scale(store)
    constrained = node_costs_model.constrained_problem(store, store.problem)
    points, tried, fault = price_curve(store, constrained, unit)
    now = _shown_point(store, constrained, lam)
    return {
        "sentence": "",
        "lam": f"{lam:g}",
        "place": step_of_price(lam, unit),
        "steps": [f"{price_at_step(k, unit):g}" for k in range(SLIDER_STEPS + 1)],
        "points": points,
        "waiting": "" if problem.n_items > MAX_ITEMS else fault or _progress_sentence(tried),
        "large": problem.n_items > MAX_ITEMS,
        "now": now,
        "weight": float(constrained.triplets.weights.sum()),
    }


def _progress_sentence(there: int) -> str:
    return "" if there == len(GRID) else f"{there} of {len(GRID)} prices tried."


def price_at_step(step: int, unit: float) -> float:
    """Return the price at a step of the slider: 0, then on a logarithmic scale, two digits."""
    if step <= 0:
        return 0.0
    low, high = GRID[1] * unit, GRID[-1] * unit
    return float(
        f"{low * (high / low) ** ((min(step, SLIDER_STEPS) - 1) / (SLIDER_STEPS - 1)):.2g}"
    )


def step_of_price(lam: float, unit: float) -> int:
    """Return the step of the slider that is nearest to a price."""
    low, high = GRID[1] * unit, GRID[-1] * unit
    if lam <= 0:
        return 0
    share = np.log(lam / low) / np.log(high / low)
    return int(np.clip(1 + round(float(share) * (SLIDER_STEPS - 1)), 1, SLIDER_STEPS))


def price_curve(
    store: Store, problem: Problem, unit: float
) -> tuple[list[dict[str, Any]], int, str]:
    """Return the results at the prices of the grid, and request the missing ones.

    Returns
    -------
    points : list of dict
        The results so far.
    tried : int
        Number of prices with a result or an error.
    error : str
        The first error, "" if there is none.
    """
    session, triplets = store.session, problem.triplets
    if problem.n_items > MAX_ITEMS:
        return [], 0, ""
    priced_by = get_algorithm(session.method).priced_by
    others = {name: x for name, x in session.params.items() if name != priced_by}
    same = (session.method, repr(sorted(others.items())), triplets.rows.tobytes(),
            triplets.weights.tobytes(), session.seed)  # fmt: skip

    def read(snapshot: Snapshot) -> tuple[float, float, int]:
        broken = ~snapshot.tree.satisfies(triplets)
        cost = dasgupta_cost(snapshot.tree, problem.similarity_or_default)
        return cost, float(triplets.weights[broken].sum()), int(broken.sum())

    wanted: dict[Hashable, Computation] = {
        ("price", lam * unit, *same): BackgroundRun(
            session.method,
            lambda: problem,
            read,
            {**others, priced_by: lam * unit},
            session.seed,
        )
        for lam in GRID
    }
    still = not store.is_streaming  # the session's own run goes first
    found = (
        store.compute_cache.ask("prices", wanted) if still else store.compute_cache.known(wanted)
    )
    tried = [(lam * unit, found.get(key)) for lam, key in zip(GRID, wanted, strict=True)]
    faults = [bought.message for _, bought in tried if isinstance(bought, HcvizError)]
    points = [_point(lam, *bought) for lam, bought in tried if isinstance(bought, tuple)]
    return points, len(found), next(iter(faults), "")


def _point(lam: float, cost: float, weight: float, count: int) -> dict[str, Any]:
    return {
        "lam": f"{lam:g}",
        "cost": cost,
        "weight": weight,
        "sentence": f"lambda {lam:g}: {count:,} violated, weight {weight:.3g}; "
        f"cost {format_cost(cost)}",
    }


def _shown_point(store: Store, problem: Problem, lam: float) -> dict[str, Any] | None:
    """Return the point of the tree on the screen, if it is a tree of this problem."""
    snapshot, triplets = store.drawn, problem.triplets
    if snapshot is None or snapshot.tree.n_leaves != problem.n_items:
        return None
    if problem.n_items > MAX_ITEMS:
        return None
    broken = ~snapshot.tree.satisfies(triplets)
    cost = dasgupta_cost(snapshot.tree, problem.similarity_or_default)
    return _point(lam, cost, float(triplets.weights[broken].sum()), int(broken.sum()))


@ACTS.on("slide")
def _slide(actions: Actions, step: int, dragging: bool = False) -> None:
    """Set the price of a step of the slider. ``dragging`` continues the last drag."""
    if is_shown(actions.store):
        scale = node_costs_model.similarity_scale(actions.store)
        _set_price(actions.store, price_at_step(step, scale), dragging)


@ACTS.on("point")
def _take_point(actions: Actions, lam: float) -> None:
    if is_shown(actions.store):
        _set_price(actions.store, lam)


def _set_price(store: Store, lam: float, is_dragging: bool = False) -> None:
    parameter = get_algorithm(store.session.method).priced_by
    store.dispatch(act.SetParams({parameter: lam}, is_dragging=is_dragging))


def _depends_on(store: Store) -> Any:
    session = store.session
    return (
        session.constraints, session.params, session.seed, session.data, session.status,
        store.dataset, store.drawn, store.n_computed,
    )  # fmt: skip


SECTION = foldable_section(
    name="prices",
    title="From geometry to answers",
    is_shown=is_shown,
    is_open_at_first=lambda store: True,
    state=state,
    depends_on=_depends_on,
    acts=ACTS,
)
