"""How many runs share the cores of this process, so that a run uses threads only if it is alone."""

from __future__ import annotations

_runs = 0


def share_cores(runs: int) -> None:
    """Set the number of runs that compute or wait to compute in this process."""
    global _runs
    _runs = runs


def has_cores_alone() -> bool:
    """Return True if at most one run uses the cores of this process."""
    return _runs <= 1


__all__ = ["has_cores_alone", "share_cores"]
