"""Open and save files."""
