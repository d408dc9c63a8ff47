"""One folder a feature: its model, its view, its script and its style."""
