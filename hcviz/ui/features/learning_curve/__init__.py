"""Distance to a target as constraints are added."""
