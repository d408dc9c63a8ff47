"""Colours of a tree on white paper, for the page, saved pictures and notebooks."""

from __future__ import annotations

#: Colour of branches that belong to no cluster.
BRANCH_COLOUR = "#66727f"
#: Colours of clusters, the first for the largest or topmost one. The first eight are Paul Tol's
#: muted colours, which differ from those of the classes and from the accent of the page. Each of
#: the others has enough contrast and is farthest from all colours before it in OKLab, also as
#: colour-blind people see them (Machado, Oliveira & Fernandes 2009).
CLUSTER_COLOURS = (
    "#cc6677", "#117733", "#5b4bc4", "#8a8a2a", "#882255", "#2f9c8b", "#aa4499", "#3f93bd",
    "#4f0e8a", "#652800", "#907bf8", "#331bb6", "#6f388c", "#ea58ce", "#c03809", "#5b5ef5",
)  # fmt: skip

__all__ = ["BRANCH_COLOUR", "CLUSTER_COLOURS"]
