"""The cost of each node."""
