"""The views that a method returns."""
