"""How the clusters of several methods agree."""
