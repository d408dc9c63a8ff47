"""The tools above the tree."""
