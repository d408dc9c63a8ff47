"""``inference_data``: recorded draws for ArviZ, which is optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.text import shorten

#: Longest name of a clade, in characters.
MAX_NAME = 80


def inference_data(
    scalars: NDArray[np.float64],
    has: NDArray[np.bool_],
    clades: Sequence[NDArray[np.int32]],
    labels: Sequence[str] | None,
) -> Any:
    """Return the draws as an ``arviz.InferenceData``; see :meth:`Posterior.to_arviz`.

    Parameters
    ----------
    scalars : float64 (chains, draws, 2)
        Log joint and root height.
    has : bool (chains, draws, k)
        Which draws have each clade.
    clades : sequence of int32 (size,)
        The items of the k clades.
    labels : sequence of str or None
        Names of the items; None: their numbers.
    """
    try:
        import arviz
    except ImportError:
        raise InvalidData(
            "to_arviz() needs ArviZ, which is not installed.", "Install it: pip install arviz."
        ) from None
    names = [
        shorten(
            ", ".join(str(i) if labels is None else labels[i] for i in items.tolist()), MAX_NAME
        )
        for items in clades
    ]
    groups: dict[str, Any] = {
        "posterior": {"root_height": scalars[:, :, 1], "has_clade": has.astype(np.int8)},
        "sample_stats": {"lp": scalars[:, :, 0]},
    }
    named: dict[str, Any] = {"coords": {"clade": names}, "dims": {"has_clade": ["clade"]}}
    if hasattr(arviz, "InferenceData"):
        return arviz.from_dict(**groups, **named)
    return arviz.from_dict(groups, **named)  # since ArviZ 1.0


__all__ = ["inference_data"]
