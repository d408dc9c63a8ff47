"""Data, method, run, undo, files."""
