"""Questions about a piece of the tree."""
