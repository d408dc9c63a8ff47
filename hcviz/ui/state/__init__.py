"""The state of one browser session: store, view state, loading of data."""
