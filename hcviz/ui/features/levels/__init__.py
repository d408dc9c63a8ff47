"""Levels: how many clusters, which, and how far the picture is collapsed."""
