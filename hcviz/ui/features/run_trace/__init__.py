"""The trace of a run: one of its metrics against the steps."""
