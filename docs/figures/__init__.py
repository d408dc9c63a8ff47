"""Figures of the documentation, which the build makes with hcviz. Each module has ``frames()``."""
