"""``sample_locations``: where the inner nodes lie, given a tree and its times."""

from __future__ import annotations

from typing import Any

import numpy as np

from hcviz.algorithms.ddt.leafnoise import unsaved_noise
from hcviz.algorithms.ddt.parameters import number_or_auto
from hcviz.algorithms.ddt.sampler import columns
from hcviz.algorithms.ddt.state import DdtState
from hcviz.algorithms.ddt.work import Float
from hcviz.core.errors import InvalidData
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot

#: In place of a variance of 0, where two nodes or a leaf and its parent coincide.
TINY = 1e-300


def sample_locations(
    problem: Problem,
    snapshot: Snapshot,
    rng: np.random.Generator,
    *,
    leaf_noise: Any = "auto",
    mu: str = "mean",
) -> Float:
    """One draw of all positions from their posterior given the snapshot's tree, times and sigma.

    float64 (m, d) in the units of ``problem.features``, row v for node v of ``snapshot.tree`` (its
    heights are 1 - t). Without leaf noise a leaf's row is its data; columns that the run
    left out as constant stay constant.
    The sampler integrates these positions out; this is what the paper's Gibbs step would draw.
    ``mu`` is that of the run. ``leaf_noise``: "auto" takes the snapshot's own; a number replaces
    it. Raises :class:`InvalidData` for a snapshot of another method or another problem. O(m d).
    """
    state, tree = snapshot.state, snapshot.tree
    if not isinstance(state, DdtState):
        raise InvalidData("Locations can be drawn from snapshots of the diffusion tree only.")
    features = np.asarray(problem.features, dtype=np.float64)
    # with sigma given to the run, constant columns counted, too
    data, counts = columns(problem, mu, every=state.sigma.size == features.shape[1])
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
