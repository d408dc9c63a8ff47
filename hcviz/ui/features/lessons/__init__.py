"""Lessons: a person guesses where an item belongs in the tree."""
