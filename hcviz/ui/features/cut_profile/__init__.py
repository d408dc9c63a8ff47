"""Show how the selected clade could be cut."""
