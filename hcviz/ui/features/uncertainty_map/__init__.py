"""A heatmap of how uncertain each pair is."""
