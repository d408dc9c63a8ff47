"""The top bar: data, method, run, undo and files."""
