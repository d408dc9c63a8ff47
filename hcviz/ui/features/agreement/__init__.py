"""Compare the clusters of several methods."""
