"""Explain a split of the tree, or a conflict, by Aho's graph."""
