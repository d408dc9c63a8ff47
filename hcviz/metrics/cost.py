"""Dasgupta's cost of a tree (Dasgupta 2016; regularised: Chatziafratis et al. 2018)."""

from __future__ import annotations

from hcviz.core.cost import dasgupta_cost, regularised_cost

__all__ = ["dasgupta_cost", "regularised_cost"]
