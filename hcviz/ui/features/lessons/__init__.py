"""Lessons: guess where an item belongs."""
