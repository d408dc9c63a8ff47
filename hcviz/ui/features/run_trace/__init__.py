"""Numbers of a run against the work done."""
