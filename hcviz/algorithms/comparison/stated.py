"""SDP-k and SDP-lambda by the solvers of cvxpy: the reference, and the fallback."""

from __future__ import annotations

import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms.comparison.sdp import Solution, certified
from hcviz.core.errors import InvalidParameter, TooLarge

Float = NDArray[np.float64]
Solver = Literal["clarabel", "scs"]

#: The most items: above, Clarabel takes minutes.
MAX_CVXPY_ITEMS = 200


def solve_stated(
    similarity: Float, *, k: int | None = None, lam: float | None = None, solver: Solver = "scs"
) -> Solution:
    """Solve SDP-k or SDP-lambda by cvxpy, in one call that cannot be stopped.

    Max <S, X> (- lambda trace X) over X PSD, X >= 0, X 1 = 1 (and trace X = k), by SCS (first
    order) or Clarabel (interior point). Their solutions miss the constraints by their own
    tolerance, so they are repaired. The bound is computed from their multipliers, so ``gap`` is a
    certificate. ``converged`` is the solver's own claim. ``steps`` is 0. O(n^6) for Clarabel.
    """
    n = len(similarity)
    if n > MAX_CVXPY_ITEMS:
        raise TooLarge(
            f"The solvers of cvxpy are for {MAX_CVXPY_ITEMS} items at most, not {n:,}.",
            "Take the solver 'admm'.",
        )
    if solver not in ("clarabel", "scs"):
        raise InvalidParameter(f"There is no solver {solver!r}.", "Known: clarabel, scs.")
    cp: Any = import_module("cvxpy")  # its import takes seconds

    s = (similarity + similarity.T) / 2
    scale = float(np.abs(s).max()) or 1.0
    x = cp.Variable((n, n), PSD=True)
    above = x >= 0
    rules: list[Any] = [above, cp.sum(x, axis=1) == 1]
    goal = cp.sum(cp.multiply(s / scale, x))
    if lam is not None:
        goal = goal - lam / scale * cp.trace(x)
    if k is not None:
        rules.append(cp.trace(x) == k)
    problem = cp.Problem(cp.Maximize(goal), rules)
    with suppress(cp.error.SolverError), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the solution may be inaccurate, as gap shows
        problem.solve(solver=solver.upper())
    return certified(
        s, x.value, above.dual_value, scale, k=k, lam=lam, converged=problem.status == cp.OPTIMAL
    )


__all__ = ["solve_stated"]
