"""The sampler's parameters; the page and the command line make forms of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import param


class Scale(param.Parameter):  # type: ignore[type-arg]
    """A positive number, or one for each dimension, or None."""

    def _validate(self, val: Any) -> None:
        if val is None:
            return
        try:
            array = np.asarray(val, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.zeros(1)
        if (
            isinstance(val, bool | np.bool_)
            or array.ndim > 1
            or not np.all((array > 0) & (array < 1e100))
        ):
            raise ValueError(f"{self.name} must be a positive number, or one for each dimension")


class AutoNumber(param.Parameter):  # type: ignore[type-arg]
    """ "auto" (or None) or a number >= 0; numbers may come as text."""

    def _validate(self, val: Any) -> None:
        number_or_auto(str(self.name), val)


def number_or_auto(name: str, value: Any) -> float | None:
    """Return None for "auto", else the number; ValueError for anything else."""
    if value is None or (isinstance(value, str) and value.strip() == "auto"):
        return None
    try:
        number = -1.0 if isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f'{name} must be "auto" or a number of 0 or more, not {value!r}')
    return number


class Parameters(param.Parameterized):
    """The parameters of ``ddt``."""

    steps = param.Integer(
        0,
        bounds=(0, 10**9),
        doc="Proposals of this run. 0: if the run has a budget of seconds, as on the page, it goes "
        "on until the supports have settled; else 200 times the number of items.",
    )
    every = param.Integer(
        0,
        bounds=(0, 10**9),
        label="Steps per tree",
        doc="Proposals between two trees; 0: the number of items.",
    )
    c = param.Number(
        None,
        label="Divergence c",
        bounds=(1e-8, 1e8),
        allow_None=True,
        doc="Divergence parameter: a(t) = c / (1 - t). Large: early splits. With learn, the first "
        "value (its prior is Exp(1)). Learnt values are from 1e-8 to 1e8, too.",
    )
    sigma = Scale(
        None,
        allow_None=True,
        doc="Standard deviation of the diffusion: one number for all dimensions, one for each, or "
        "None: one for each, estimated. With learn, the first value, and the scale s of the prior "
        "sigma^2 ~ inverse-Gamma(1, s^2). So for None the prior depends on the data.",
    )
    learn = param.Boolean(True, doc="Sample c and sigma with the tree; else they stay as they are.")
    leaf_noise = AutoNumber(
        "auto",
        allow_None=True,
        doc="Variance of the noise at the leaves in units of sigma^2, as if each leaf diffused on "
        "for this long after t = 1. auto: 0 if no column has ties (equal values); else learnt "
        "with sigma, or 0.01 if sigma is not learnt. A number stays as it is. With 0 and learn "
        "the posterior may have no bound if columns have ties.",
    )
    beta = param.Number(
        None,
        bounds=(0, 1e6),
        allow_None=True,
        doc="None: triplets are hard. A number: they are soft, and each violated one costs beta "
        "times its weight in log density.",
    )
    init: Any = param.Selector(
        default="average",
        objects=["average", "random"],
        doc="Start: average linkage of the features, or a tree drawn from the prior.",
    )
    latents: Any = param.Selector(
        default="integrated",
        objects=["integrated", "gibbs"],
        doc="Locations of inner nodes: integrated out, or (as in the paper) drawn given the tree, "
        "in turn with moves given them. Both sample the same posterior.",
    )
    chains = param.Integer(
        1,
        bounds=(1, 64),
        doc="Chains that run in parallel, each with steps proposals. The first is shown. The "
        "others start from trees drawn from the prior, and show whether all agree.",
    )
    mu: Any = param.Selector(
        default="mean",
        objects=["mean", "zero"],
        label="Starts at",
        doc="Where the diffusion starts: the mean of each column, or 0.",
    )
    repair: Any = param.Selector(
        default="guided",
        objects=["guided", "rebuild"],
        doc="How a start that violates a triplet is repaired: guided keeps everything that no "
        "triplet concerns; rebuild (as in the paper) rebuilds all below the triplet's LCA.",
    )
