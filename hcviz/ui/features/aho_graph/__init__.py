"""Explain a split or a conflict by Aho's graph."""
