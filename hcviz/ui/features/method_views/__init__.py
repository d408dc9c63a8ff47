"""Draw the views that a method returns."""
