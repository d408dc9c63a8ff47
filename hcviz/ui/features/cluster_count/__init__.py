"""Choose the number of clusters by a curve."""
