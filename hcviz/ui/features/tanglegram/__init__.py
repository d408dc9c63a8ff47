"""Two trees side by side."""
