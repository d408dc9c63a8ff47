"""Choose the number of clusters."""
