"""Compare the present tree with an earlier one, side by side."""
