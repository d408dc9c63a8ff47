"""``sample_locations``: the locations of the inner nodes, given a tree and its times."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.algorithms.ddt.leafnoise import unsaved_noise
from hcviz.algorithms.ddt.parameters import number_or_auto
from hcviz.algorithms.ddt.sampler import used_columns
from hcviz.algorithms.ddt.state import DdtState
from hcviz.algorithms.ddt.work import Float
from hcviz.core.errors import InvalidData
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot

#: Replaces a variance of 0, where two nodes, or a leaf and its parent, coincide.
TINY = 1e-300


def sample_locations(
    problem: Problem,
    snapshot: Snapshot,
    rng: np.random.Generator,
    *,
    leaf_noise: Any = "auto",
    mu: str = "mean",
) -> Float:
    """Draw all locations from their posterior, given a snapshot's tree, times and sigma.

    The sampler integrates the locations out; this is the Gibbs step of Vikram & Dasgupta (2016).
    O(m d).

    Parameters
    ----------
    problem : Problem
        The problem of the run.
    snapshot : Snapshot
        A snapshot of ``ddt``.
    rng : numpy.random.Generator
        Random numbers.
    leaf_noise : "auto" or float
        "auto" takes the snapshot's own; a number replaces it.
    mu : {"mean", "zero"}
        As in the run.

    Returns
    -------
    float64 (m, d)
        In the units of ``problem.features``; row v belongs to node v of ``snapshot.tree``, whose
        heights are 1 - t. Without leaf noise, the row of a leaf is its data. Constant columns that
        the run left out stay constant.

    Raises
    ------
    InvalidData
        The snapshot is of another method or another problem.
    """
    state, tree = snapshot.state, snapshot.tree
    if not isinstance(state, DdtState):
        raise InvalidData("Locations can be drawn from snapshots of the diffusion tree only.")
    features = np.asarray(problem.features, dtype=np.float64)
    # If sigma was given, the run used constant columns, too.
    data, counts = used_columns(problem, mu, every=state.sigma.size == features.shape[1])
    if tree.n_leaves != problem.n_items or state.sigma.size != data.shape[1]:
        raise InvalidData("The snapshot belongs to another problem.")
    n, m, dims = tree.n_leaves, tree.n_nodes, data.shape[1]
    h = tree.height
    weight = np.zeros(m)  # precisions, summed over children
    mean = np.zeros((m, dims))
    noise = number_or_auto("leaf_noise", leaf_noise)
    if noise is None:
        noise = unsaved_noise(data) if state.noise is None else state.noise
    var = np.full(m, noise)
    mean[:n] = data / state.sigma
    for v in range(m):
        if v >= n:
            var[v] = 1.0 / weight[v]
            mean[v] *= var[v]
        p = tree.parent[v]
        if p >= 0:
            precision = 1.0 / max(var[v] + (h[p] - h[v]), TINY)
            weight[p] += precision
            mean[p] += precision * mean[v]
    place = np.empty((m, dims))
    for v in range(m - 1, -1, -1):
        p = tree.parent[v]
        origin = place[p] if p >= 0 else np.zeros(dims)
        ahead = (h[p] if p >= 0 else 1.0) - h[v]
        share = ahead / max(ahead + var[v], TINY)
        spread = np.sqrt(share * var[v])
        place[v] = origin + share * (mean[v] - origin) + spread * rng.normal(size=dims)
    out = np.tile(features[0], (m, 1))
    shift = features[:, counts].mean(axis=0) if mu == "mean" and dims else 0.0
    out[:, counts] = shift + state.sigma * place
    return out
