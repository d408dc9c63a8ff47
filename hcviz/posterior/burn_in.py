"""``burn_in``: how many draws of a chain still remember its start."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

#: The burn-in is this multiple of the draws until the chain's level is reached,
SAFETY = 4
#: and between these shares of all draws.
LEAST, MOST = 1 / 8, 1 / 2


def arrival(log_joint: ArrayLike) -> int:
    """Return how many draws a chain makes before it reaches the level of its later half.

    Parameters
    ----------
    log_joint : float (draws,)
        The log joint of each draw.

    Returns
    -------
    int
        The first draw at the median of the later half, or past it as seen from the first draw.
        With NaN or without draws, the number of draws.

    Notes
    -----
    A chain that still rises reaches that level only in its later half. O(draws).

    Examples
    --------
    >>> arrival([-90.0, -50.0, -11.0, -9.0, -11.0, -9.0, -11.0, -9.0])
    3
    """
    values = np.asarray(log_joint, dtype=np.float64)
    if not values.size or np.isnan(values).any():
        return int(values.size)
    level = np.median(values[values.size // 2 :])
    past = values >= level if values[0] < level else values <= level
    return int(past.argmax())


def burn_in(log_joint: ArrayLike) -> int:
    """Return the number of a chain's first draws that are left out.

    Parameters
    ----------
    log_joint : float (draws,)
        The log joint of each draw.

    Returns
    -------
    int
        Four times :func:`arrival`, but at least an eighth of the draws and at most half of them.

    Notes
    -----
    If the shape of the tree needs longer than its log joint, the chains differ, since one of them
    starts at a random tree. So early draws make the supports seem less accurate, never more.

    Examples
    --------
    >>> burn_in([-90.0, -11.0] + 20 * [-9.0, -11.0])
    5
    >>> burn_in(range(42))
    21
    """
    draws = np.size(log_joint)
    return int(min(max(SAFETY * arrival(log_joint), LEAST * draws), MOST * draws))


__all__ = ["arrival", "burn_in"]
