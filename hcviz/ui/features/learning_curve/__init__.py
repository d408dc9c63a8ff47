"""The learning curve: the distance to a target tree as constraints are added."""
