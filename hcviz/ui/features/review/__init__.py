"""The review of a second version of the groups."""
