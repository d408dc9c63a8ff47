"""The merges of a linkage one by one, beside the distances between the clusters."""
